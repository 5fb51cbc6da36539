import Glibc

/// Hides personal data in the evidence of a diagnosis, and keeps the data that a bug report needs.
struct EvidenceMask {
  /// The home folder without a final slash, which is shown as `~`; empty if it is unknown.
  private let home: String

  init(home: String?) {
    let home = home ?? ""
    self.home = home.lastIndex { $0 != "/" }.map { String(home[...$0]) } ?? ""
  }

  /// The text without public addresses, hardware addresses and the home folder.
  func applied(to text: String) -> String {
    var result = ""
    var word = ""
    for character in text {
      if Self.isPartOfWord(character) {
        word.append(character)
      } else {
        result += masked(word)
        result.append(character)
        word = ""
      }
    }
    return result + masked(word)
  }

  private static func isPartOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "/.:%_-~+@".contains(character)
  }

  private func masked(_ word: String) -> String {
    if !home.isEmpty, word == home || word.hasPrefix(home + "/") {
      let rest = word.dropFirst(home.count).drop { $0 == "/" }
      return rest.isEmpty ? "~" : "~/" + rest
    }
    // A full stop or colon of the sentence, or a prefix length, may follow an address.
    let core = word.prefix { $0 != "/" }
    let trimmed = core.reversed().drop { ".:".contains($0) && core != "::" }.reversed()
    let address = String(trimmed)
    guard let mask = Self.mask(for: address) else { return word }
    return mask + word.dropFirst(address.count)
  }

  private static func mask(for word: String) -> String? {
    if let name = hardwareName(word) { return name }
    if isHardwareAddress(word) { return "MAC" }
    var v4 = in_addr()
    if inet_pton(AF_INET, word, &v4) == 1 {
      return isPublic(UInt32(bigEndian: v4.s_addr)) ? "PUBLIC-IPv4" : nil
    }
    var v6 = in6_addr()
    if inet_pton(AF_INET6, word, &v6) == 1 {
      return withUnsafeBytes(of: v6) { isPublic(Array($0)) } ? "PUBLIC-IPv6" : nil
    }
    return nil
  }

  /// Masks an interface name that contains a hardware address, such as `wlx00c0ca112233`.
  ///
  /// systemd creates such names (systemd.net-naming-scheme(7)).
  private static func hardwareName(_ word: String) -> String? {
    guard word.count == 15, word.dropFirst(3).allSatisfy(\.isHexDigit) else { return nil }
    return ["enx", "wlx", "wwx"].first(where: word.hasPrefix).map { $0 + "MAC" }
  }

  private static func isHardwareAddress(_ word: String) -> Bool {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 6 && parts.allSatisfy { $0.count == 2 && $0.allSatisfy(\.isHexDigit) }
  }

  /// Whether an IPv4 address is outside the private and reserved networks (RFC 1918, 6598, 3927, 5737, 1122).
  private static func isPublic(_ address: UInt32) -> Bool {
    let common: [(UInt32, Int)] = [
      (0x0A00_0000, 8), (0xAC10_0000, 12), (0xC0A8_0000, 16), (0x6440_0000, 10), (0xA9FE_0000, 16),
      (0x7F00_0000, 8), (0x0000_0000, 8), (0xC000_0200, 24), (0xC633_6400, 24), (0xCB00_7100, 24),
    ]
    return !common.contains { address >> (32 - $0.1) == $0.0 >> (32 - $0.1) }
  }

  /// Whether an IPv6 address may identify a user.
  ///
  /// Loopback, unspecified and documentation addresses do not, nor do link-local ones without a hardware
  /// address. A unique local address identifies a network (RFC 4193).
  private static func isPublic(_ bytes: [UInt8]) -> Bool {
    if bytes.dropLast().allSatisfy({ $0 == 0 }) { return false }
    if bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 { return hasHardwareAddress(bytes) }
    return !bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8])
  }

  /// Whether the interface identifier contains a hardware address (RFC 4291, appendix A).
  private static func hasHardwareAddress(_ bytes: [UInt8]) -> Bool { bytes[11] == 0xFF && bytes[12] == 0xFE }
}

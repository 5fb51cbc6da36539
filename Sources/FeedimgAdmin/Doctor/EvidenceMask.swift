import FeedimgSystem

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
    switch IPAddress(word) {
    case .v4(let value)?: return IPAddress.v4(value).isPublic ? "PUBLIC-IPv4" : nil
    case .v6(let high, let low)?: return mayIdentifyUser(high, low) ? "PUBLIC-IPv6" : nil
    case nil: return nil
    }
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

  /// Whether an IPv6 address may identify a user.
  ///
  /// Loopback, unspecified and documentation addresses do not, nor do link-local ones without a hardware
  /// address (RFC 4291, appendix A). A unique local address identifies a network (RFC 4193).
  private static func mayIdentifyUser(_ high: UInt64, _ low: UInt64) -> Bool {
    if high == 0, low <= 0xFF { return false }
    if high >> 54 == 0xFE80 >> 6 { return low >> 24 & 0xFFFF == 0xFFFE }
    return high >> 32 != 0x2001_0DB8
  }
}

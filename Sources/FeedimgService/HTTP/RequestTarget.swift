/// The path and the query of a request (RFC 9112 §3.2).
///
/// The path is compared as sent: a path with dots, escapes or doubled slashes is a different path.
struct RequestTarget: Sendable, Hashable {
  /// One parameter of the query.
  struct Parameter: Sendable, Hashable {
    var name: String
    var value: String
  }

  let path: String
  /// The path and the query as sent.
  let text: String
  let parameters: [Parameter]

  /// Reads a target in origin form, such as `/v1/image?item=%7B%7D`, or in absolute form.
  ///
  /// In the query `+` means a space, as in forms. Nil for another form, and for a query that is not percent-encoded UTF-8.
  ///
  /// - Parameter text: The target in the request line.
  init?(_ text: String) {
    guard let local = Self.local(text) else { return nil }
    let parts = local.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    path = String(Substring(parts[0]))
    self.text = String(local)
    var parameters: [Parameter] = []
    for pair in parts.count > 1 ? parts[1].split(separator: UInt8(ascii: "&")) : [] {
      let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(Substring(sides[0])),
        let value = Self.decoded(sides.count > 1 ? Substring(sides[1]) : "")
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
    self.parameters = parameters
  }

  /// The first value of a parameter.
  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  private static func local(_ text: String) -> Substring? {
    if text.hasPrefix("/") { return text[...] }
    let lower = text.prefix(8).lowercased()
    guard lower.hasPrefix("http://") || lower == "https://" else { return nil }
    let rest = text.dropFirst(lower == "https://" ? 8 : 7)
    guard let slash = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
    return rest[slash] == "/" ? rest[slash...] : "/" + rest[slash...]
  }

  private static func decoded(_ text: Substring) -> String? {
    var text = text
    return text.withUTF8 { encoded in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(encoded.count)
      var index = 0
      while index < encoded.count {
        switch encoded[index] {
        case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
          guard index + 2 < encoded.count, let high = digit(encoded[index + 1]),
            let low = digit(encoded[index + 2])
          else { return nil }
          bytes.append(high << 4 | low)
          index += 2
        default: bytes.append(encoded[index])
        }
        index += 1
      }
      return String(validating: bytes, as: UTF8.self)
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// The field `Host` (RFC 9110 §7.2).
enum HostField {
  private static let marks = Array("-._~!$&'()*+,;=%:[]".utf8)

  /// Whether a value is a host with an optional port (RFC 3986 §3.2.2), or empty.
  ///
  /// User information, a path and spaces are invalid. The name itself is not checked here.
  static func isWellFormed(_ value: String) -> Bool {
    value.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || marks.contains(byte)
    }
  }
}

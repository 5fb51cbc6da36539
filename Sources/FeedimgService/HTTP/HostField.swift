/// The field `Host` (RFC 9110 §7.2).
enum HostField {
  /// Whether a value is a host with an optional port, or empty.
  ///
  /// User information, a path and spaces are invalid. The name itself is not checked here.
  static func isWellFormed(_ value: String) -> Bool { value.utf8.allSatisfy(isOfAuthority) }

  /// Whether a byte may occur in a host or port (RFC 3986 §3.2.2).
  private static func isOfAuthority(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: marks.contains(byte)
    }
  }

  private static let marks = Array("-._~!$&'()*+,;=%:[]".utf8)
}

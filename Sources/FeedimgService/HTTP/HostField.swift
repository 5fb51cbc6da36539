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

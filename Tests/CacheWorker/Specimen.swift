/// An image that says of itself what it is, so that a reader can tell a wrong or torn one.
///
/// Sixteen bytes of key number and version, then bytes that follow from them, of a length that follows too.
struct Specimen {
  var key: Int
  var version: Int

  static func key(_ number: Int) -> String { "https://example.org/\(number).jpg" }

  var bytes: [UInt8] {
    var state = UInt64(truncatingIfNeeded: key &* 1_000_003 &+ version) &* 0x9E37_79B9_7F4A_7C15 | 1
    var bytes: [UInt8] = []
    for value in [key, version] {
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
    }
    let length = 16 + Int(state % 40_000)
    bytes.reserveCapacity(length)
    while bytes.count < length {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      bytes.append(UInt8(truncatingIfNeeded: state))
    }
    return bytes
  }

  /// Reads what an image says of itself.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 16 else { return nil }
    func value(_ start: Int) -> Int {
      (0..<8).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    }
    self.init(key: value(0), version: value(8))
  }

  init(key: Int, version: Int) {
    self.key = key
    self.version = version
  }

  /// Whether these are the bytes of an image that was once stored under a key.
  static func isWhole(_ bytes: [UInt8], key: Int) -> Bool {
    guard let specimen = Specimen(bytes), specimen.key == key else { return false }
    return specimen.bytes == bytes
  }
}

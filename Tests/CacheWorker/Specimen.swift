/// An image that says of itself what it is, so that a reader can tell a wrong or torn one.
///
/// Sixteen bytes of key number and version, then a piece of one long noise, whose place and length follow from them.
/// Made at the speed of copying, so that a writer spends its time in the cache, where it is to be killed.
struct Specimen {
  var key: Int
  var version: Int

  private static let noise: [UInt8] = {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<1 << 16).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state)
    }
  }()

  static func key(_ number: Int) -> String { "https://example.org/\(number).jpg" }

  var bytes: [UInt8] {
    let seed = UInt64(truncatingIfNeeded: key &* 1_000_003 &+ version) &* 0x9E37_79B9_7F4A_7C15
    let start = Int(seed >> 40 & 0x7FFF)
    let length = Int(seed >> 20 & 0x7FFF)
    let header = [key, version].flatMap { value in
      (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    return header + Self.noise[start..<start + length]
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

  /// One of some length, of any version.
  static func long(key: Int) -> Specimen {
    while true {
      let specimen = Specimen(key: key, version: .random(in: 0..<1 << 40))
      if specimen.bytes.count > 20_000 { return specimen }
    }
  }

  /// Whether an image that was once stored under a key begins with these bytes.
  static func isBeginning(_ bytes: [UInt8], key: Int) -> Bool {
    guard let specimen = Specimen(bytes), specimen.key == key else { return false }
    return specimen.bytes.starts(with: bytes)
  }

  /// Whether these are the bytes of an image that was once stored under a key.
  static func isWhole(_ bytes: [UInt8], key: Int) -> Bool {
    guard let specimen = Specimen(bytes), specimen.key == key else { return false }
    return specimen.bytes == bytes
  }
}

/// An image that identifies itself, so that a reader detects a wrong or torn one.
///
/// The first sixteen bytes are the key number and the version. A piece of one long noise follows, whose
/// position and length depend on them. Copying makes it fast, so that a writer spends its time in the cache,
/// where the kill is meant to happen.
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

  /// Reads the key and version of an image.
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

  /// A long one, of any version.
  static func long(key: Int) -> Specimen {
    while true {
      let specimen = Specimen(key: key, version: .random(in: 0..<1 << 40))
      if specimen.bytes.count > 20_000 { return specimen }
    }
  }

  /// Whether these bytes are the beginning of an image that was stored under a key.
  static func isBeginning(_ bytes: [UInt8], key: Int) -> Bool {
    guard let specimen = Specimen(bytes), specimen.key == key else { return false }
    return specimen.bytes.starts(with: bytes)
  }

  /// Whether these are the bytes of an image that was stored under a key.
  static func isWhole(_ bytes: [UInt8], key: Int) -> Bool {
    guard let specimen = Specimen(bytes), specimen.key == key else { return false }
    return specimen.bytes == bytes
  }
}

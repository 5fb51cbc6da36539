/// A number of bytes.
public struct ByteCount: Sendable, Hashable, Comparable {
  /// Never negative.
  public var bytes: Int

  /// Creates a count; a negative number becomes zero.
  public init(_ bytes: Int) { self.bytes = max(0, bytes) }

  /// Converts a number of mebibytes, of 1,048,576 bytes each.
  public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }

  /// Fewer bytes come first.
  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: LosslessStringConvertible {
  /// The accepted units: `kB` is 1000 bytes, `KiB` is 1024 (IEC 80000-13).
  static let units: [(name: String, bytes: Int)] = [
    ("B", 1), ("kB", 1000), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]

  /// Reads `512 MiB`, `1.5 GB`, `300kB` or a plain number of bytes; nil for anything else.
  public init?(_ description: String) {
    let number = description.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = description.dropFirst(number.count).drop { $0 == " " }
    guard let factor = unit.isEmpty ? 1 : Self.units.first(where: { $0.name == unit })?.bytes,
      let bytes = Self.product(number, factor)
    else { return nil }
    self.init(bytes)
  }

  private static func product(_ number: Substring, _ factor: Int) -> Int? {
    // A `Double` is exact for whole numbers up to 2^53 only.
    if let whole = Int(number) {
      let (bytes, isTooGreat) = whole.multipliedReportingOverflow(by: factor)
      return isTooGreat ? nil : bytes
    }
    return Double(number).flatMap { Int(exactly: ($0 * Double(factor)).rounded()) }
  }

  /// The exact count in the unit that gives the shortest text; parsing it gives the same count.
  public var description: String {
    let exact = Self.units.filter { bytes >= $0.bytes && bytes % $0.bytes == 0 && $0.name != "KB" }
    let maximum = exact.max { $0.bytes < $1.bytes }
    return maximum.map { "\(bytes / $0.bytes) \($0.name)" } ?? "\(bytes) B"
  }

  /// Rounded to three digits for people, such as `1.25 MB`.
  public var rounded: String {
    guard bytes >= 1000 else { return "\(bytes) B" }
    var value = Double(bytes)
    var unit = "B"
    for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 {
      value /= 1000
      unit = next
    }
    let scale = value < 9.995 ? 100.0 : value < 99.95 ? 10.0 : 1.0
    let text = String((value * scale).rounded() / scale)
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " " + unit
  }
}

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
  static let decimalUnits = [
    ("B", 1), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
  ]
  static let binaryUnits = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)]

  /// Reads `512 MiB`, `1.5 GB`, `300kB` or a plain number of bytes; nil for anything else.
  ///
  /// `kB` is 1000 bytes, `KiB` is 1024 (IEC 80000-13).
  public init?(_ description: String) {
    guard let bytes = QuantityUnit.bytes.quantity(description, needsUnit: false) else { return nil }
    self.init(bytes)
  }

  /// The exact count in the unit that gives the shortest text; parsing it gives the same count.
  public var description: String {
    let exact = (Self.decimalUnits + Self.binaryUnits).filter { bytes >= $1 && bytes % $1 == 0 }
    return exact.max { $0.1 < $1.1 }.map { "\(bytes / $1) \($0)" } ?? "\(bytes) B"
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

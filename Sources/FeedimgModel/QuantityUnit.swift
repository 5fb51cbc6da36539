/// The unit family of a quantity and its notation.
///
/// Quantities are whole numbers of the smallest unit: bytes, bits per second, percent.
package enum QuantityUnit: Sendable, Hashable {
  case bytes
  case bitsPerSecond
  case percent

  /// The largest quantity; nil for no limit.
  package var maximum: Int? { self == .percent ? 100 : nil }

  /// An example for messages.
  package var example: String {
    switch self {
    case .bytes: "20 MB"
    case .bitsPerSecond: "5 Mbit/s"
    case .percent: "20 %"
    }
  }

  /// The accepted units, for suggestions.
  package var names: [String] { units.map(\.name) }

  private var units: [(name: String, factor: Int)] {
    switch self {
    case .bytes: ByteCount.decimalUnits + ByteCount.binaryUnits
    case .bitsPerSecond: Self.rates
    case .percent: [("%", 1)]
    }
  }

  private static let rates = [
    ("bit/s", 1), ("kbit/s", 1000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000),
  ]

  /// Parses `300 kB`, `5 Mbit/s` or `20 %`, with or without the space; nil for anything else.
  ///
  /// A number without a unit counts the smallest unit, unless it needs a unit. `KB` stands for `kB`.
  package func quantity(_ text: some StringProtocol, needsUnit: Bool) -> Int? {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    var unit = String(text.dropFirst(number.count).drop { $0 == " " })
    if self == .bytes, unit == "KB" { unit = "kB" }
    guard !unit.isEmpty || !needsUnit,
      let factor = unit.isEmpty ? 1 : units.first(where: { $0.name == unit })?.factor
    else { return nil }
    // A `Double` is exact for whole numbers up to 2^53 only.
    if let whole = Int(number) {
      let (quantity, isTooGreat) = whole.multipliedReportingOverflow(by: factor)
      return isTooGreat ? nil : quantity
    }
    return Double(number).flatMap { Int(exactly: ($0 * Double(factor)).rounded()) }
  }

  /// The exact quantity in the unit that gives the shortest text.
  package func text(_ quantity: Int) -> String {
    switch self {
    case .percent: return "\(quantity) %"
    case .bitsPerSecond: return Self.shortest(quantity, Self.rates)
    case .bytes:
      let decimal = Self.shortest(quantity, ByteCount.decimalUnits)
      let exact = ByteCount(quantity).description
      return exact.utf8.count < decimal.utf8.count ? exact : decimal
    }
  }

  private static func shortest(_ quantity: Int, _ units: [(String, Int)]) -> String {
    var best = "\(quantity) \(units.first?.0 ?? "")"
    for (name, factor) in units.dropFirst() where quantity >= factor {
      let (whole, rest) = quantity.quotientAndRemainder(dividingBy: factor)
      var text = String(whole)
      if rest > 0 {
        var digits = factor + rest
        while digits.isMultiple(of: 10) { digits /= 10 }
        text += "." + String(digits).dropFirst()
      }
      text += " " + name
      if text.utf8.count <= best.utf8.count { best = text }
    }
    return best
  }
}

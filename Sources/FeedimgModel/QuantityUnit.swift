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
  package var names: [String] {
    switch self {
    case .bytes: ByteCount.units.map(\.name).filter { $0 != "KB" }
    case .bitsPerSecond: Self.rates.map(\.name)
    case .percent: ["%"]
    }
  }

  private static let rates: [(name: String, factor: Int)] = [
    ("bit/s", 1), ("kbit/s", 1000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000),
  ]

  /// Parses `300 kB`, `5 Mbit/s` or `20 %`, with or without the space; nil for anything else.
  ///
  /// A number without a unit counts the smallest unit, unless it needs a unit.
  package func quantity(_ text: some StringProtocol, needsUnit: Bool) -> Int? {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = String(text.dropFirst(number.count).drop { $0 == " " })
    guard !unit.isEmpty || !needsUnit else { return nil }
    switch self {
    case .bytes:
      return ByteCount(String(text))?.bytes
    case .bitsPerSecond:
      let factor = unit.isEmpty ? 1 : Self.rates.first { $0.name == unit }?.factor
      return factor.flatMap { Self.scaled(number, by: $0) }
    case .percent:
      return unit.isEmpty || unit == "%" ? Self.scaled(number, by: 1) : nil
    }
  }

  /// The exact quantity in the unit that gives the shortest text.
  package func text(_ quantity: Int) -> String {
    switch self {
    case .percent: return "\(quantity) %"
    case .bitsPerSecond: return Self.shortest(quantity, Self.rates)
    case .bytes:
      let decimal = Self.shortest(
        quantity,
        [("B", 1), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)]
      )
      let exact = ByteCount(quantity).description
      return exact.utf8.count < decimal.utf8.count ? exact : decimal
    }
  }

  private static func scaled(_ number: some StringProtocol, by factor: Int) -> Int? {
    guard let value = Double(number), value.isFinite else { return nil }
    return Int(exactly: (value * Double(factor)).rounded())
  }

  private static func shortest(_ quantity: Int, _ units: [(name: String, factor: Int)]) -> String {
    var best = "\(quantity) \(units.first?.name ?? "")"
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

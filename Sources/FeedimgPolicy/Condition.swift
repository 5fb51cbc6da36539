package import FeedimgModel

/// The condition that one cell of a table sets for one fact.
///
/// A cell `-` sets no condition.
package struct Condition: Sendable, Hashable {
  package let fact: Fact
  /// The regions that the cell lists.
  let regions: [Region]
  /// Whether the fact must be in none of ``regions``, rather than in one of them.
  let isNegated: Bool
  /// The quantities that the cell mentions.
  let thresholds: [Threshold]
  /// The cell with single spaces, such as `wifi, ethernet` or `< 20 MB`.
  package let text: String

  /// Whether the condition holds everywhere in a region.
  ///
  /// The region must be split at ``thresholds``.
  package func holds(in region: Region) -> Bool {
    regions.contains { $0.contains(region) } != isNegated
  }

  /// Whether the condition holds in a situation.
  ///
  /// Compiled policies must agree with this definition.
  package func holds(in situation: Situation) -> Bool {
    let value: Region =
      switch fact.domain {
      case .words: .word(fact.ordinal(in: situation))
      case .quantity: fact.quantity(in: situation).map { .quantities($0...$0) } ?? .unknown
      }
    return holds(in: value)
  }

  /// The fact's value in a situation, such as `network is wifi`.
  func statement(in situation: Situation) -> String { "\(fact.name) is \(fact.value(in: situation))" }
}

extension Condition {
  /// Reads a cell: `-`, `a`, `a, b`, `not a`, `< n`, `<= n`, `> n`, `>= n`, `a..b` (b excluded) or `unknown`.
  ///
  /// Comparisons and `unknown` may also stand in a list. Tables may also use `= n`, and two comparisons
  /// joined by `and`. Returns nil for `-`.
  static func read(_ cell: String, of fact: Fact) throws(FactError) -> Condition? {
    guard cell != "-" else { return nil }
    guard !cell.isEmpty else { throw FactError(message: "empty cell, write `-` for any value") }
    let isNegated = cell.hasPrefix("not ")
    var parser = TermParser(fact: fact, isNegated: isNegated)
    for part in cell.dropFirst(isNegated ? 4 : 0).listed { try parser.read(part) }
    return Condition(
      fact: fact,
      regions: parser.regions,
      isNegated: isNegated,
      thresholds: parser.thresholds,
      text: (isNegated ? "not " : "") + parser.texts.joined(separator: ", ")
    )
  }
}

/// Reads the parts between the commas of a cell.
private struct TermParser {
  let fact: Fact
  let isNegated: Bool
  var regions: [Region] = []
  var thresholds: [Threshold] = []
  var texts: [String] = []

  mutating func read(_ text: String) throws(FactError) {
    guard !text.isEmpty else { throw FactError(message: "a value is missing before or after a comma") }
    let region =
      switch fact.domain {
      case .words(let words): try word(text, among: words)
      case .quantity(let unit): try comparison(text, unit)
      }
    guard !regions.contains(region) else { throw FactError(message: "\(text.quoted) appears twice") }
    regions.append(region)
    texts.append(text)
  }

  private func word(_ text: String, among words: [String]) throws(FactError) -> Region {
    if let index = words.firstIndex(of: text) { return .word(index) }
    if text == "-" { throw FactError(message: "`-` means any value, write it without other values") }
    if text.hasPrefix("not ") { throw FactError(message: "write `not` once, before all values") }
    throw FactError(noValue: text, of: fact.name, among: words)
  }

  private mutating func comparison(_ text: String, _ unit: QuantityUnit) throws(FactError) -> Region {
    if text == "unknown" { return .unknown }
    guard !isNegated else {
      throw FactError(message: "`not` cannot negate a comparison, write the opposite comparison")
    }
    guard let quantities = try range(text, unit) else {
      throw FactError(message: "impossible interval \(text.quoted), no \(fact.name) is in it")
    }
    return .quantities(quantities)
  }

  /// The quantities of a comparison; nil if it covers none.
  private mutating func range(
    _ text: String,
    _ unit: QuantityUnit
  ) throws(FactError) -> ClosedRange<Int>? {
    if let (left, right) = Self.halves(text, around: " and ") {
      guard !right.contains(" and ") else {
        throw FactError(message: "expected two comparisons joined by `and`, found more")
      }
      let left = try range(String(left), unit)
      let right = try range(String(right), unit)
      guard let left, let right, left.overlaps(right) else { return nil }
      return left.clamped(to: right)
    }
    if let (left, right) = Self.halves(text, around: "..") {
      let lower = try quantity(left, unit)
      let upper = try quantity(right, unit)
      return lower < upper ? lower...(upper - 1) : nil
    }
    for sign in ["<=", ">=", "<", ">", "="] where text.hasPrefix(sign) {
      let bound = try quantity(text.dropFirst(sign.count), unit)
      switch sign {
      case "<=": return 0...bound
      case ">=": return bound...Int.max
      case "<": return bound > 0 ? 0...(bound - 1) : nil
      case ">": return bound < unit.maximum ?? .max ? (bound + 1)...Int.max : nil
      default: return bound...bound
      }
    }
    throw FactError(
      message: "\(fact.name) has no value \(text.quoted),"
        + " expected a comparison such as `< \(unit.example)`, or `unknown`",
      suggestion: Spelling.nearest(to: text, among: ["unknown"])
    )
  }

  /// The text before and after the first separator; nil if there is none.
  private static func halves(_ text: String, around separator: String) -> (Substring, Substring)? {
    text.firstRange(of: separator).map { (text[..<$0.lowerBound], text[$0.upperBound...]) }
  }

  private mutating func quantity(
    _ text: Substring,
    _ unit: QuantityUnit
  ) throws(FactError) -> Int {
    let trimmed = text.drop { $0 == " " }
    let written = trimmed.hasSuffix(" ") ? trimmed.dropLast() : trimmed
    guard let quantity = unit.quantity(written, needsUnit: true) else { throw fault(written, unit) }
    guard quantity <= unit.maximum ?? .max else {
      throw FactError(message: "\(written.quoted) is too large, \(fact.name) is at most 100 %")
    }
    thresholds.append(Threshold(quantity: quantity, text: String(written)))
    return quantity
  }

  private func fault(_ written: Substring, _ unit: QuantityUnit) -> FactError {
    let number = written.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let name = written.dropFirst(number.count).drop { $0 == " " }
    guard Double(number) != nil, !name.isEmpty else {
      return FactError(
        message: "\(written.quoted) is not a quantity, expected a number and a unit such as `\(unit.example)`"
      )
    }
    if unit.quantity("1" + name, needsUnit: true) != nil {
      return FactError(message: "\(written.quoted) is too large")
    }
    return FactError(
      message: "\(fact.name) has no unit \(name.quoted), expected \(unit.names.joined(separator: ", "))",
      suggestion: Spelling.nearest(to: String(name), among: unit.names).map { "\(number) \($0)" }
    )
  }
}

extension StringProtocol {
  /// The text without spaces and tabs at both ends, and with one space for each run of them inside.
  var singleSpaced: String {
    var bytes: [UInt8] = []
    var isAfterBlank = false
    for byte in utf8 {
      if byte.isBlank {
        isAfterBlank = true
      } else {
        if isAfterBlank, !bytes.isEmpty { bytes.append(0x20) }
        isAfterBlank = false
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The parts between the commas, single-spaced.
  ///
  /// A missing part is empty.
  var listed: [String] {
    utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self).singleSpaced
    }
  }
}

extension UInt8 {
  /// A space or a tab.
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}

import FeedimgModel
package import FeedimgPolicy

/// A fact with a fixed value, which makes any situation reproducible.
public struct SituationOverride: Sendable, Hashable {
  /// The name of the fact in policies, such as `always original`; hyphens may replace the spaces.
  public var fact: String
  /// The value as policies spell it, such as `yes`.
  public var value: String
  /// The origin of the override, for explanations, such as `--network`.
  public var source: String

  /// Makes an override; a loader checks the fact and the value when it is made.
  ///
  /// - Parameters:
  ///   - fact: The name of the fact.
  ///   - value: Its value.
  ///   - source: The origin of the override.
  public init(fact: String, value: String, source: String) {
    self.fact = fact
    self.value = value
    self.source = source
  }

  /// Reads a fact and its value, such as `always-original=yes`; nil without `=`.
  package init?(pair: String, source: String) {
    guard let equals = pair.firstIndex(of: "=") else { return nil }
    self.init(
      fact: String(pair[..<equals]),
      value: String(pair[pair.index(after: equals)...]),
      source: source
    )
  }
}

/// An override with a valid fact and value.
package struct CheckedOverride: Sendable {
  package let fact: Fact
  let source: String
  private let value: String

  /// Checks an override.
  ///
  /// - Throws: ``FactError`` with the values that the fact can have.
  package init(_ override: SituationOverride, among facts: FactCatalog) throws(FactError) {
    fact = try Fact(typed: override.fact, among: facts)
    value = override.value
    source = override.source
    var trial = Situation(network: .other, original: .none, thumbnail: .none)
    try fact.set(typed: value, in: &trial)
  }

  func apply(to situation: inout Situation) {
    // The initialiser has checked the value.
    try? fact.set(typed: value, in: &situation)
  }

  /// Checks all overrides and reports all errors together.
  package static func check(
    _ overrides: [SituationOverride],
    among facts: FactCatalog
  ) throws(ConfigurationError) -> [CheckedOverride] {
    var checked: [CheckedOverride] = []
    var faults: [String] = []
    for override in overrides {
      do throws(FactError) {
        checked.append(try CheckedOverride(override, among: facts))
      } catch {
        faults.append("\(override.source): \(error)")
      }
    }
    guard faults.isEmpty else { throw ConfigurationError(faults) }
    return checked
  }
}

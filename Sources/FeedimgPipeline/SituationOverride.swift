import FeedimgModel
package import FeedimgPolicy

/// A fact that is given instead of read, so that any situation can be reproduced.
public struct SituationOverride: Sendable, Hashable {
  /// As policies name it, such as `always original`; hyphens may stand for the spaces.
  public var fact: String
  /// As policies spell it, such as `yes`.
  public var value: String
  /// Who gave it, for explanations, such as `--network`.
  public var source: String

  /// Makes an override; fact and value are checked when a loader is made with it.
  public init(fact: String, value: String, source: String) {
    self.fact = fact
    self.value = value
    self.source = source
  }
}

/// An override whose fact and value are known to be good.
package struct CheckedOverride: Sendable {
  package let fact: Fact
  let source: String
  private let value: String

  /// - Throws: ``FactError`` that tells what the fact can be.
  package init(_ override: SituationOverride, among facts: FactCatalog) throws(FactError) {
    fact = try Fact(typed: override.fact, among: facts)
    value = override.value
    source = override.source
    var trial = Situation(network: .other, original: .none, thumbnail: .none)
    try fact.set(typed: value, in: &trial)
  }

  func apply(to situation: inout Situation) {
    // Checked when this was made.
    try? fact.set(typed: value, in: &situation)
  }

  /// Checks all, and tells of every fault at once.
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

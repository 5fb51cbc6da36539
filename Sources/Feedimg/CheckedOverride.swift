import FeedimgModel
import FeedimgPolicy

/// An override whose fact and value are known to be good.
struct CheckedOverride: Sendable {
  let fact: Fact
  let source: String
  private let value: String

  /// - Throws: ``FactError`` that tells what the fact can be.
  init(_ override: SituationOverride, among facts: FactCatalog) throws(FactError) {
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
  static func check(
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

import FeedimgModel
import FeedimgPolicy
import Synchronization

/// What was seen at one look, of which a ``SituationReader`` is made.
struct Sight: Sendable, Hashable {
  /// Nil where it is given and need not be looked at.
  var network: NetworkState?
  var asksAboutCost: Bool
  var settings: UserSettings
  var budget: BudgetReading
  var bandwidth: Int?
}

/// Keeps the reader that was made last, as most looks see what the one before has seen.
final class LatestReader: Sendable {
  /// Guards the reader; it is made outside.
  private let latest = Mutex<(sight: Sight, reader: SituationReader)?>(nil)

  /// The reader for what was seen; overrides and facts are the same in all calls.
  func reader(
    of sight: Sight,
    _ overrides: [CheckedOverride],
    _ hostFacts: [HostFact]
  ) -> SituationReader {
    if let known = latest.withLock({ $0?.sight == sight ? $0?.reader : nil }) { return known }
    let reader = SituationReader(
      network: sight.network,
      asksAboutCost: sight.asksAboutCost,
      settings: sight.settings,
      budget: sight.budget,
      overrides: overrides,
      hostFacts: hostFacts,
      bandwidth: sight.bandwidth
    )
    latest.withLock { $0 = (sight, reader) }
    return reader
  }
}

import FeedimgModel
import FeedimgPolicy
import Synchronization

/// What was seen at one look, of which a ``SituationReader`` is made.
struct FactSnapshot: Sendable, Hashable {
  /// Nil where it is given and need not be looked at.
  var network: NetworkState?
  var asksAboutCost: Bool
  var settings: UserSettings
  var budget: BudgetReading
  var bandwidth: Int?
}

/// Keeps the reader that was made last, as most looks see what the one before has seen.
final class SnapshotCache: Sendable {
  /// Guards the reader; it is made outside.
  private let latest = Mutex<(snapshot: FactSnapshot, reader: SituationReader)?>(nil)

  /// The reader for what was seen; overrides and facts are the same in all calls.
  func reader(
    of snapshot: FactSnapshot,
    _ overrides: [CheckedOverride],
    _ hostFacts: [HostFact]
  ) -> SituationReader {
    if let known = latest.withLock({ $0?.snapshot == snapshot ? $0?.reader : nil }) { return known }
    let reader = SituationReader(
      network: snapshot.network,
      asksAboutCost: snapshot.asksAboutCost,
      settings: snapshot.settings,
      budget: snapshot.budget,
      overrides: overrides,
      hostFacts: hostFacts,
      bandwidth: snapshot.bandwidth
    )
    latest.withLock { $0 = (snapshot, reader) }
    return reader
  }
}

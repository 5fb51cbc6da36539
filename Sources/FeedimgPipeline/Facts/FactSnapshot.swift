package import FeedimgModel
package import FeedimgPolicy
import FeedimgSystem
import FeedimgUsage
import Synchronization

/// The values that this machine reported at one moment; facts are made of them.
package struct FactSnapshot: Sendable, Hashable {
  /// The network; nil if an override replaces it.
  var network: NetworkState?
  /// Whether services were asked about the cost of data.
  var needsCost = true
  var settings: UserSettings
  var budget = BudgetReading()
  var bandwidth: BandwidthReading?
  var polled = PolledFacts()
}

/// The facts whose changes no event reports.
///
/// The fact monitor reads them once a minute, unless ``isEmpty``.
struct PolledFacts: Sendable, Hashable {
  /// The battery; nil if the policy does not depend on it.
  var battery: BatteryReading?

  /// Whether none of them can change a decision.
  var isEmpty: Bool { battery?.percent == nil }
}

extension PolledFacts {
  /// Reads those on which a policy depends.
  init(for policy: CompiledPolicy) { battery = policy.depends(on: .battery) ? BatteryReader().read() : nil }
}

extension FactSnapshot {
  /// Reads the facts of this machine; slow sources only if the policy depends on them.
  ///
  /// The network is nil if an override replaces it. `bandwidth` is what this process measured.
  package init(
    for policy: CompiledPolicy,
    network: NetworkState?,
    settings: UserSettings,
    usage: (any UsageKeeping)?,
    bandwidth: BandwidthMeasurement? = nil,
    memory: BandwidthMemory?,
    at now: Double
  ) {
    self.network = network
    self.settings = settings
    budget = BudgetReading(for: policy, settings, usage)
    self.bandwidth = BandwidthReading(live: bandwidth, memory, network, at: now)
    polled = PolledFacts(for: policy)
  }
}

/// The facts of one moment, each with its source in words.
package struct KnownFacts {
  package var situation: Situation
  /// The source of each known fact; see ``Fact/defaultSource`` for the others.
  package private(set) var sources: [Fact: String] = [:]

  package init(_ situation: Situation) { self.situation = situation }

  /// Adds the facts that this machine reported.
  package mutating func read(_ snapshot: FactSnapshot) {
    if let network = snapshot.network {
      let asks = snapshot.needsCost
      situation.network = network.kind
      situation.metered = network.metered
      situation.isRoaming = network.isRoaming
      sources[.network] = network.reason
      sources[.metered] =
        asks || network.kind == .offline
        ? network.meteredReason
        : "\(network.meteredReason); NetworkManager was not asked, because no rule depends on it"
      sources[.roaming] = asks ? network.sourceOfRoaming : "not read, because no rule depends on it"
    }
    situation.savesData = snapshot.settings.savesData
    sources[.dataSaver] = Fact.dataSaver.defaultSource
    situation.alwaysOriginal = snapshot.settings.alwaysLoadOriginalsOnCellular
    sources[.alwaysOriginal] = Fact.alwaysOriginal.defaultSource
    situation.budgetLeft = snapshot.budget.left
    sources[.budgetLeft] = snapshot.budget.source
    situation.bandwidth = snapshot.bandwidth?.bitsPerSecond
    sources[.bandwidth] = snapshot.bandwidth?.source
    situation.battery = snapshot.polled.battery?.percent
    sources[.battery] = snapshot.polled.battery?.source
  }

  /// Replaces a fact by an override.
  package mutating func set(_ given: CheckedOverride) {
    given.apply(to: &situation)
    sources[given.fact] = given.source
  }

  /// Replaces the cost of data after an override of the network.
  package mutating func setMetered(_ metered: Metered, source: String?) {
    situation.metered = metered
    sources[.metered] = source
  }
}

extension NetworkState {
  /// The source of the fact `roaming`, in words.
  package var sourceOfRoaming: String {
    isRoaming ? "ModemManager reports it" : "roaming is not reported"
  }
}

/// Keeps the facts of the last snapshot, because most snapshots equal the previous one.
final class SnapshotCache: Sendable {
  private let overrides: [CheckedOverride]
  private let hostFacts: [HostFact]
  /// Guards the context, which is made outside the lock.
  private let latest = Mutex<(snapshot: FactSnapshot, context: DecisionContext)?>(nil)

  init(overrides: [CheckedOverride], hostFacts: [HostFact]) {
    (self.overrides, self.hostFacts) = (overrides, hostFacts)
  }

  /// Returns the context for a snapshot and a policy.
  func context(of snapshot: FactSnapshot, _ policy: CompiledPolicy) -> DecisionContext {
    let known = latest.withLock { $0?.snapshot == snapshot ? $0?.context : nil }
    if let known, known.policy === policy { return known }
    let context = DecisionContext(
      SituationReader(snapshot, overrides: overrides, hostFacts: hostFacts),
      policy
    )
    latest.withLock { $0 = (snapshot, context) }
    return context
  }
}

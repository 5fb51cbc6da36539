package import FeedimgModel
package import FeedimgPolicy
import FeedimgSystem
import FeedimgUsage
import Synchronization

/// The sources of facts beside the network, the settings and the ledger.
package struct FactSources: Sendable {
  var battery = BatteryReader()
  /// Nil where nothing is kept between runs.
  var bandwidth: BandwidthMemory?

  package init(bandwidth: BandwidthMemory? = nil) { self.bandwidth = bandwidth }

  init(battery: BatteryReader, bandwidth: BandwidthMemory? = nil) {
    (self.battery, self.bandwidth) = (battery, bandwidth)
  }
}

/// What this machine told at one moment, of which the facts are made.
package struct FactSnapshot: Sendable, Hashable {
  /// Nil where it is given and need not be read.
  var network: NetworkState?
  /// Whether services were asked what data costs.
  var asksAboutCost = true
  var settings: UserSettings
  var budget = BudgetReading.unasked
  var bandwidth: BandwidthReading?
  /// Nil where the policy does not ask.
  var battery: BatteryReading?
}

extension FactSnapshot {
  /// Reads the facts of this machine that a policy may ask about.
  ///
  /// - Parameters:
  ///   - policy: The policy; what costs time is read only where it asks.
  ///   - network: Nil where it is given and need not be read.
  ///   - settings: The settings.
  ///   - usage: Nil where nothing is counted.
  ///   - bandwidth: In bits per second, as this process has measured it.
  ///   - sources: The sources of the other facts.
  ///   - now: Seconds since 1970.
  package init(
    for policy: CompiledPolicy,
    network: NetworkState?,
    settings: UserSettings,
    usage: (any UsageKeeping)?,
    bandwidth: Int? = nil,
    from sources: FactSources,
    at now: Double
  ) {
    self.network = network
    self.settings = settings
    budget = BudgetReading(for: policy, settings, usage)
    self.bandwidth = BandwidthReading(live: bandwidth, sources.bandwidth, network, at: now)
    battery = policy.asks(.battery) ? sources.battery.read() : nil
  }
}

extension ImageLoader {
  /// The facts of this machine now.
  func snapshot(for policy: CompiledPolicy, trustingNetwork: Bool) -> FactSnapshot {
    let isNetworkGiven = overrides.contains { $0.fact == .network }
    let network = isNetworkGiven ? nil : seenNetwork()
    let (bandwidth, now) = (scheduler.link.bandwidth, clock())
    if let bandwidth, let network, let memory = sources.bandwidth, memory.note(bandwidth, network, at: now) {
      // A decision never waits for the disk.
      disk.enqueue { memory.flush() }
    }
    var snapshot = FactSnapshot(
      for: policy,
      network: network.map { trustingNetwork ? $0 : retries.liveness.judged($0) },
      settings: settings.currentSettings(),
      usage: usage,
      bandwidth: bandwidth,
      from: sources,
      at: now
    )
    snapshot.asksAboutCost = policy.asksAboutCost
    return snapshot
  }

  /// Keeps the bandwidth that was measured last, for a program that ends.
  package func keepBandwidth() {
    guard let memory = sources.bandwidth, let live = scheduler.link.bandwidth else { return }
    _ = memory.note(live, network.currentState(), at: clock())
    memory.flush()
  }
}

/// The facts of one moment, each with its source in words.
package struct KnownFacts {
  package var situation: Situation
  /// Empty for what nothing has told; see ``Fact/defaultSource``.
  package private(set) var sources: [Fact: String] = [:]

  package init(_ situation: Situation) { self.situation = situation }

  /// Takes the facts that this machine tells.
  package mutating func read(_ snapshot: FactSnapshot) {
    if let network = snapshot.network {
      let asks = snapshot.asksAboutCost
      situation.network = network.kind
      situation.metered = network.metered
      situation.isRoaming = network.isRoaming
      sources[.network] = network.reason
      sources[.metered] =
        asks || network.kind == .offline
        ? network.meteredReason
        : "\(network.meteredReason); services were not asked, as no rule depends on it"
      sources[.roaming] = asks ? network.sourceOfRoaming : "not asked, as no rule depends on it"
    }
    situation.savesData = snapshot.settings.savesData
    sources[.dataSaver] = Fact.dataSaver.defaultSource
    situation.alwaysOriginal = snapshot.settings.alwaysLoadOriginalsOnCellular
    sources[.alwaysOriginal] = Fact.alwaysOriginal.defaultSource
    situation.budgetLeft = snapshot.budget.left
    sources[.budgetLeft] = snapshot.budget.source
    situation.bandwidth = snapshot.bandwidth?.bitsPerSecond
    sources[.bandwidth] = snapshot.bandwidth?.source
    situation.battery = snapshot.battery?.percent
    sources[.battery] = snapshot.battery?.source
  }

  /// Takes a fact that was given.
  package mutating func set(_ given: CheckedOverride) {
    given.apply(to: &situation)
    sources[given.fact] = given.source
  }

  /// Sets what data costs, which was told of another network.
  package mutating func setMetered(_ metered: Metered, source: String?) {
    situation.metered = metered
    sources[.metered] = source
  }
}

extension NetworkState {
  /// Who says whether the modem is roaming, in words.
  package var sourceOfRoaming: String {
    isRoaming ? "ModemManager says so" : "nothing tells of a foreign network"
  }
}

/// Keeps the facts of the last snapshot, because most snapshots equal the one before.
final class SnapshotCache: Sendable {
  /// Guards the reader; it is made outside.
  private let latest = Mutex<(snapshot: FactSnapshot, reader: SituationReader)?>(nil)

  /// The reader for a snapshot; overrides and facts are the same in all calls.
  func reader(
    of snapshot: FactSnapshot,
    _ overrides: [CheckedOverride],
    _ hostFacts: [HostFact]
  ) -> SituationReader {
    if let known = latest.withLock({ $0?.snapshot == snapshot ? $0?.reader : nil }) { return known }
    let reader = SituationReader(snapshot, overrides: overrides, hostFacts: hostFacts)
    latest.withLock { $0 = (snapshot, reader) }
    return reader
  }
}

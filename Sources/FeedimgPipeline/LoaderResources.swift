import FeedimgHTTPCache
package import FeedimgModel
package import FeedimgSystem
import Synchronization

/// The parts that loaders share, grouped by owner.
package final class LoaderResources: Sendable {
  package let sources: FactSources
  package let storage: ImageStorage
  package let transport: Transport
  package let loads: RunningLoads
  /// Reports changes of the facts to the loads that wait.
  package let facts: FactMonitor
  /// Decodes pixels; nil if the program decodes images itself.
  package let pixels: DecodingQueue?
  /// Seconds since 1970; may jump.
  let clock: @Sendable () -> Double
  /// The clock for waits, which never jumps.
  package let time: MonotonicTime

  package init(
    sources: FactSources,
    storage: ImageStorage,
    transport: Transport,
    decoder: (any ImageDecoding)? = nil,
    observers: [any LoadObserving] = [],
    clock: @escaping @Sendable () -> Double = SystemClock.seconds,
    time: MonotonicTime
  ) {
    (self.sources, self.storage, self.transport) = (sources, storage, transport)
    (self.clock, self.time) = (clock, time)
    let identity = transport.identity
    pixels = decoder.map { DecodingQueue($0, storage.memory) { identity.key(of: $0) } }
    let revalidator = Revalidator(clock: clock)
    loads = RunningLoads(revalidator: revalidator, observers: observers)
    facts = FactMonitor(
      network: sources.network,
      settings: sources.settings,
      time: time,
      retries: transport.retries,
      polled: { [policy = sources.policy] in PolledFacts(for: policy.current()) },
      // Needed even if all decisions are made without reading the network.
      onState: { [meter = sources.meter] in meter?.note($0) },
      onNetwork: { [downloader = transport.downloader, scheduler = transport.scheduler] state in
        downloader.forgetConnections()
        revalidator.forgetRequests()
        // List the running downloads before others start, because the new network may have more places.
        let leave = scheduler.leavingPath()
        scheduler.enter(network: state.kind)
        // Move them to the new network after the loads with a changed decision have ended.
        return { Task { @PipelineActor in leave() } }
      }
    )
  }

  deinit { saveBandwidth() }

  /// Applies the user's limits, also after they changed.
  func follow(_ settings: UserSettings) {
    storage.store.follow(settings)
    storage.memory.setLimits(storage.budget.limits(settings))
  }

  /// Writes the measured bandwidth for the next run.
  package func saveBandwidth() {
    guard let memory = sources.bandwidthMemory,
      let live = transport.scheduler.link.withLock({ $0.reported })
    else { return }
    _ = memory.note(live, sources.network.currentState(), at: clock())
    memory.flush()
  }

  /// The current state of the network, which the ledger and the monitor also hear.
  func currentNetwork() -> NetworkState {
    let state = sources.network.currentState()
    sources.meter?.note(state)
    facts.observed(state)
    return state
  }
}

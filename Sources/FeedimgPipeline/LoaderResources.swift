package import FeedimgHTTPCache
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
  package let factMonitor: FactMonitor
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
    let revalidator = Revalidator(transport.retries)
    loads = RunningLoads(revalidator: revalidator, observers: observers)
    factMonitor = FactMonitor(
      network: sources.network,
      settings: sources.settings,
      time: time,
      retries: transport.retries,
      polled: { [policy = sources.policy] in PolledFacts(for: policy.current()) },
      // Needed even if all decisions are made without reading the network.
      onState: { [meter = sources.meter] in meter?.note($0) },
      onNetwork: { [downloader = transport.downloader, scheduler = transport.scheduler] state in
        downloader.forgetConnections()
        // List the running downloads before others start, because the new network may have more places.
        let leave = scheduler.leavingPath()
        scheduler.enter(network: state)
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
      let measured = transport.scheduler.link.withLock({ $0.measurement })
    else { return }
    _ = memory.note(measured, at: clock())
    memory.flush()
  }

  /// The current state of the network, which the ledger and the monitor also hear.
  func currentNetwork() -> NetworkState {
    let state = sources.network.currentState()
    sources.meter?.note(state)
    factMonitor.observed(state)
    return state
  }
}

/// The sources of the facts, and the policy.
package struct FactSources: Sendable {
  let network: any NetworkMonitoring
  let settings: any SettingsReading
  /// The policy of the program; single loads may use another one.
  let policy: PolicyInForce
  let hostFacts: HostFacts
  /// The ledger; nil if usage is not counted.
  let usage: (any UsageKeeping)?
  package let meter: UsageMeter?
  /// The stored bandwidth; nil if nothing is kept between runs.
  let bandwidthMemory: BandwidthMemory?
  /// The policies that callers name for single loads.
  let namedPolicies = NamedPolicies()

  /// - Parameters:
  ///   - network: The network.
  ///   - settings: The user's settings.
  ///   - policy: The policy of the program.
  ///   - hostFacts: The facts of the application.
  ///   - usage: The ledger; nil to count nothing.
  ///   - bandwidthMemory: The stored bandwidth; nil to keep none.
  ///   - time: The clock of the meter.
  ///   - writes: The thread that writes the ledger.
  package init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    policy: PolicyInForce,
    hostFacts: HostFacts = HostFacts([]),
    usage: (any UsageKeeping)? = nil,
    bandwidthMemory: BandwidthMemory? = nil,
    time: MonotonicTime,
    writes: ThreadExecutor
  ) {
    (self.network, self.settings, self.policy, self.hostFacts) = (network, settings, policy, hostFacts)
    (self.usage, self.bandwidthMemory) = (usage, bandwidthMemory)
    meter = usage.map { UsageMeter($0, network: network, time: time, on: writes) }
  }
}

/// The cache in memory and on disk, and the threads that use its files.
package final class ImageStorage: Sendable {
  package let store: any ImageStoring
  package let memory: MemoryCache
  let budget: MemoryBudget
  package let pressure: MemoryPressure
  /// The thread on which loads read files; starts with the first load.
  package let reads = ThreadExecutor("feedimg-disk")
  /// The thread that writes the cache and the usage ledger, so that no reader waits behind a write.
  package let writes = ThreadExecutor("feedimg-writes")
  let runningStores = StoresInFlight()
  let uses: MemoryUseRecorder

  /// - Parameters:
  ///   - store: The cache on disk.
  ///   - memory: The cache in memory.
  ///   - budget: The limits of the memory.
  ///   - identity: The program's request fields, by which the store chooses among responses of a URL.
  ///   - environment: The variables that name files of the system's memory pressure.
  package init(
    _ store: any ImageStoring,
    _ memory: MemoryCache,
    budget: MemoryBudget,
    identity: RequestIdentity,
    environment: [String: String]
  ) {
    (self.store, self.memory, self.budget) = (store, memory, budget)
    pressure = MemoryPressure(memory, environment: environment)
    uses = MemoryUseRecorder(of: store, for: identity.sent, on: writes)
    memory.whenFilled { [weak pressure] in pressure?.start() }
  }

  deinit {
    reads.stop()
    writes.stop()
  }

  /// Commits a body on the thread for writes, together with others that are ready at about the same time.
  ///
  /// Discards a body that cannot be stored.
  func commit(
    _ writer: any ImageWriting,
    _ metadata: ImageMetadata
  ) async -> Result<StoredImage, CacheError> {
    await withTaskExecutorPreference(writes) { await commitOnPreferredExecutor(writer, metadata) }
  }

  @concurrent private func commitOnPreferredExecutor(
    _ writer: any ImageWriting,
    _ metadata: ImageMetadata
  ) async -> Result<StoredImage, CacheError> {
    do throws(CacheError) {
      return .success(try await writer.commit(metadata, writes.afterwards))
    } catch {
      writer.discard()
      return .failure(error)
    }
  }
}

/// The downloader with its scheduler and retries.
package struct Transport: Sendable {
  let downloader: any Downloading
  /// The header fields and timeouts of the program's requests; single loads may add fields.
  let identity: RequestIdentity
  /// The service; nil if this process loads images itself.
  let service: ServiceClient?
  let scheduler: DownloadScheduler
  package let retries: RetryController

  package init(
    _ downloader: any Downloading,
    identity: RequestIdentity = RequestIdentity(userAgent: "feedimg"),
    service: ServiceClient? = nil,
    retries: RetrySchedule = RetrySchedule(),
    time: MonotonicTime
  ) {
    (self.downloader, self.identity, self.service) = (downloader, identity, service)
    scheduler = DownloadScheduler(time, interval: identity.requests.interval)
    self.retries = RetryController(time, schedule: retries)
  }
}

/// The loads, revalidations and transfers that run, and their observers.
package struct RunningLoads: Sendable {
  let coalescer = Coalescer<FetchedImage>()
  let revalidator: Revalidator
  package let transfers = TransferRegistry()
  let observers: [any LoadObserving]
}

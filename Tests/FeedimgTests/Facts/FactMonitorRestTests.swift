import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The monitor without listeners, and its state when the next listener comes.
@Suite(.timeLimit(.minutes(10))) @PipelineActor struct FactMonitorRestTests {
  /// A network and settings that the test sets.
  ///
  /// They count their watchers.
  private nonisolated final class Watched: NetworkMonitoring, SettingsReading {
    struct State: Sendable {
      var network = NetworkState(kind: .wifi, metered: .no, reason: "", meteredReason: "")
      var settings = UserSettings()
      var watching = 0
      /// Whether the system allows no thread, so that each stream ends after one value.
      var isRefused = false
    }

    let state = Mutex(State())

    func currentState() -> NetworkState { state.withLock { $0.network } }
    func currentSettings() -> UserSettings { state.withLock { $0.settings } }
    func takeWarnings() -> [String] { [] }
    func states() -> AsyncStream<NetworkState> { stream(currentState()) }
    func changes() -> AsyncStream<UserSettings> { stream(currentSettings()) }

    private func stream<Element: Sendable>(_ present: Element) -> AsyncStream<Element> {
      let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
      state.withLock { $0.watching += 1 }
      continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.watching -= 1 } }
      continuation.yield(present)
      if state.withLock({ $0.isRefused }) { continuation.finish() }
      return stream
    }

    func watching(is count: Int) async {
      while state.withLock({ $0.watching }) != count { await Task.yield() }
    }
  }

  private final class Ways: Sendable {
    let kinds = Mutex<[NetworkKind]>([])
  }

  private let watched = Watched()
  private let failures = RetryController(.system(), schedule: RetrySchedule(maximumTries: 1))
  private let ways = Ways()
  private let watch: FactMonitor

  nonisolated init() {
    watch = FactMonitor(
      network: watched,
      settings: watched,
      time: .system(),
      retries: failures,
      onState: { _ in },
      onNetwork: { [ways] state in
        ways.kinds.withLock { $0.append(state.kind) }
        return {}
      }
    )
  }

  private var entered: [NetworkKind] { ways.kinds.withLock { $0 } }

  /// Makes a load fail with an error that is remembered.
  private func fail() async throws {
    let url = try ImageURL("http://127.0.0.1/missing.jpg")
    let missing = LoadError(.status, url: url, message: "not found", status: 404)
    let error = await #expect(throws: LoadError.self) {
      try await failures.perform(url) { _ async throws(LoadError) -> Int in throw missing }
    }
    #expect(error?.status == 404)
    #expect(failures.recordCount > 0)
  }

  @Test func `nothing is watched before the first listener or while the monitor is suspended`() async {
    #expect(watched.state.withLock { $0.watching } == 0)
    let number = watch.listen(priority: { .visible }, {})
    await watched.watching(is: 2)
    watch.leave(number)
    watch.rest()
    await watched.watching(is: 0)
    watch.watch()
    await watched.watching(is: 2)
  }

  @Test func `a released monitor watches nothing`() async {
    var monitor: FactMonitor? = FactMonitor(
      network: watched,
      settings: watched,
      time: .system(),
      retries: failures,
      onState: { _ in },
      onNetwork: { _ in {} }
    )
    monitor?.watch()
    await watched.watching(is: 2)
    monitor = nil
    await watched.watching(is: 0)
  }

  @Test func `the monitor stays active while it has a listener`() async {
    let number = watch.listen(priority: { .visible }, {})
    watch.rest()
    await watched.watching(is: 2)
    watch.leave(number)
    watch.rest()
    await watched.watching(is: 0)
  }

  @Test func `after the system refused a thread, the next listener starts the watch`() async {
    watched.state.withLock { $0.isRefused = true }
    let first = watch.listen(priority: { .visible }, {})
    for _ in 0..<10 { await PipelineActor.task {}.value }
    #expect(watch.generation == nil)
    watched.state.withLock { $0.isRefused = false }
    let second = watch.listen(priority: { .visible }, {})
    #expect(watch.generation != nil)
    await watched.watching(is: 2)
    for number in [first, second] { watch.leave(number) }
  }

  nonisolated struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isNewWay: Bool
    let forgetsFailures: Bool
    let happen: @Sendable (inout Facts) -> Void
  }

  nonisolated struct Facts: Sendable {
    var network: NetworkState
    var settings: UserSettings
  }

  nonisolated static let changes = [
    Change(testDescription: "nothing", isNewWay: false, forgetsFailures: false) { _ in },
    Change(testDescription: "another network", isNewWay: true, forgetsFailures: true) {
      $0.network.kind = .cellular
    },
    Change(testDescription: "only the metering changed", isNewWay: false, forgetsFailures: false) {
      $0.network.metered = .yes
    },
    Change(testDescription: "a setting", isNewWay: false, forgetsFailures: true) {
      $0.settings.downloadLimit = ByteCount(1)
    },
  ]

  @Test(arguments: changes) func `a change during suspension counts afterwards`(_ change: Change) async throws
  {
    watch.watch()
    try await fail()
    watch.rest()
    await watched.watching(is: 0)
    watched.state.withLock { state in
      var facts = Facts(network: state.network, settings: state.settings)
      change.happen(&facts)
      (state.network, state.settings) = (facts.network, facts.settings)
    }
    #expect(entered == [.wifi], "there is no listener")
    watch.watch()
    #expect(entered == (change.isNewWay ? [.wifi, .cellular] : [.wifi]))
    #expect((failures.recordCount == 0) == change.forgetsFailures)
  }

  @Test func `the battery is read while there is a listener, and each change is reported`() async {
    let time = ManualTime()
    let counted = Counted()
    let watch = FactMonitor(
      network: watched,
      settings: watched,
      time: time.time,
      retries: failures,
      polled: {
        PolledFacts(battery: BatteryReading(percent: counted.charge.withLock { $0 }, source: "BAT0"))
      },
      onState: { _ in },
      onNetwork: { _ in {} }
    )
    let number = watch.listen(priority: { .visible }, { counted.told.wrappingAdd(1, ordering: .relaxed) })
    await time.pass(.seconds(60), when: 1)
    // The monitor sleeps again after reading the same charge.
    while time.sleepers < 1 { await Task.yield() }
    #expect(counted.told.load(ordering: .relaxed) == 0)
    counted.charge.withLock { $0 = 79 }
    await time.pass(.seconds(60), when: 1)
    while time.sleepers < 1 { await Task.yield() }
    #expect(counted.told.load(ordering: .relaxed) == 1)
    watch.leave(number)
    watch.rest()
    while time.sleepers > 0 { await Task.yield() }
  }

  @Test func `the battery is not read without a battery or without a policy that uses it`() {
    let time = ManualTime()
    let watch = FactMonitor(
      network: watched,
      settings: watched,
      time: time.time,
      retries: failures,
      polled: { PolledFacts(battery: BatteryReading(percent: nil, source: "no battery")) },
      onState: { _ in },
      onNetwork: { _ in {} }
    )
    watch.watch()
    #expect(time.sleepers == 0)
  }

  /// A battery that counts how often the monitor reported a change.
  private nonisolated final class Counted: Sendable {
    let charge = Mutex<Int?>(80)
    let told = Atomic(0)
  }
}

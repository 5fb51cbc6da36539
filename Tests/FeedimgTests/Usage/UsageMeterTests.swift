import FeedimgModel
import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// What loads record in the ledger, and how the policy uses it.
@Suite struct UsageMeterTests {
  let ledger = TestLedger()
  let time = ManualTime()
  private let writes = ThreadExecutor("test")

  private func item(_ host: String = "pictures.example", size: Int? = nil) throws -> FeedItem {
    var original = ImageVariant(role: .original, url: try ImageURL("http://\(host)/a.jpg"))
    original.size = size.map { ByteCount($0) }
    let thumbnail = ImageVariant(role: .thumbnail, url: try ImageURL("http://\(host)/b.jpg"))
    return FeedItem(original: original, thumbnail: thumbnail)
  }

  @Test func `a load counts its bytes and one transfer, under the network that carried them`() async throws {
    let bench = try TestLoader(.wifi, downloader: TestDownloader(body: SampleImage.jpeg), usage: ledger)
    _ = try await bench.loader.load(try item())
    #expect(ledger.lines == ["wifi no \(SampleImage.jpeg.count + 100) 1"])
    _ = try await bench.loader.load(try item())
    #expect(ledger.lines.count == 1, "a cache hit transfers nothing")
  }

  @Test func `a load that fails midway counts the received bytes`() async throws {
    let downloader = TestDownloader(body: SampleImage.jpeg) { () throws(LoadError) in
      throw LoadError(.connection, message: "the connection was cut")
    }
    let bench = try TestLoader(.wifi, downloader: downloader, usage: ledger)
    await #expect(throws: LoadError.self) { try await bench.loader.load(try item()) }
    #expect(ledger.lines == ["wifi no 100 1"])
  }

  @Test func `a load that is refused before its request is not a transfer`() async throws {
    let bench = try TestLoader(.wifi, downloader: RefusingDownloader(), usage: ledger)
    await #expect(throws: LoadError.self) { try await bench.loader.load(try item()) }
    #expect(ledger.lines.isEmpty)
  }

  @Test func `a request without a response is a transfer`() async throws {
    let bench = try TestLoader(.wifi, downloader: RefusingDownloader(sends: true), usage: ledger)
    await #expect(throws: LoadError.self) { try await bench.loader.load(try item()) }
    #expect(!ledger.lines.isEmpty && ledger.lines.allSatisfy { $0 == "wifi no 0 1" })
  }

  /// Fails every request, before or after it is sent.
  private struct RefusingDownloader: Downloading {
    var sends = false

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      if sends { receiver.note(.requested) }
      throw LoadError(.connection, message: "no host can be reached")
    }
  }

  @Test func `bytes from this machine are not counted`() async throws {
    let bench = try TestLoader(.wifi, downloader: TestDownloader(body: SampleImage.jpeg), usage: ledger)
    _ = try await bench.loader.load(try item("127.0.0.1"))
    #expect(ledger.lines.isEmpty)
  }

  static let redirects: [(from: String, to: String, lines: [String])] = [
    ("127.0.0.1", "pictures.example", ["wifi no \(SampleImage.jpeg.count + 100) 1"]),
    ("127.0.0.1", "localhost", []),
    // The redirecting response came over the network.
    ("pictures.example", "127.0.0.1", ["wifi no 100 1"]),
    ("pictures.example", "other.example", ["wifi no \(SampleImage.jpeg.count + 200) 1"]),
  ]

  @Test(arguments: redirects)
  func `after a redirect the target's host decides what counts`(
    _ from: String,
    _ to: String,
    _ lines: [String]
  ) async throws {
    var downloader = TestDownloader(body: SampleImage.jpeg)
    downloader.redirect = try ImageURL("http://\(to)/a.jpg")
    let bench = try TestLoader(.wifi, downloader: downloader, usage: ledger)
    _ = try await bench.loader.load(try item(from))
    #expect(ledger.lines == lines)
  }

  @Test func `after a handover the new network is charged for the following bytes`() async throws {
    let network = TestLoader.Network(.wifi)
    let meter = UsageMeter(ledger, network: network, time: time.time, on: writes)
    let tally = meter.begin(try ImageURL("http://pictures.example/a.jpg"))
    tally.add(10)
    network.become(.cellular, metered: .yes)
    meter.note(network.currentState())
    tally.add(20)
    network.become(.offline)
    meter.note(network.currentState())
    tally.add(3)
    tally.end()
    #expect(ledger.lines.sorted() == ["cellular yes 23 0", "wifi no 10 1"])
  }

  @Test func `bytes before a silence are recorded after the interval, and silence causes no wake-ups`()
    async throws
  {
    let meter = UsageMeter(ledger, network: TestLoader.Network(.wifi), time: time.time, on: writes)
    let tallies = try (1...3).map { meter.begin(try ImageURL("http://pictures.example/\($0).jpg")) }
    for tally in tallies { tally.add(10) }
    await time.pass(UsageMeter.interval - .milliseconds(1), when: 1)
    #expect(time.sleepers == 1 && ledger.lines.isEmpty, "one timer for all")
    time.pass(.milliseconds(1))
    while ledger.lines.isEmpty { await Task.yield() }
    #expect(ledger.lines == ["wifi no 30 3"])
    #expect(time.sleepers == 0)
    for tally in tallies { tally.end() }
    #expect(ledger.lines == ["wifi no 30 3"])
    #expect(time.sleepers == 0)
  }

  @Test func `a program that ends during a transfer counts it once`() async throws {
    let meter = UsageMeter(ledger, network: TestLoader.Network(.wifi), time: time.time, on: writes)
    let tally = meter.begin(try ImageURL("http://pictures.example/a.jpg"))
    tally.add(10)
    meter.endAll()
    #expect(ledger.lines == ["wifi no 10 1"])
    tally.add(20)
    tally.end()
    #expect(ledger.lines == ["wifi no 10 1", "wifi no 20 0"])
  }

  @Test(.timeLimit(.minutes(1))) func `a slot shows an image while the ledger is being written`() async throws
  {
    let slow = SlowLedger(ledger)
    let bench = try TestLoader(.wifi, downloader: TestDownloader(body: SampleImage.jpeg), usage: slow)
    let slot = bench.loader.slot()
    slot.show(try TestLoader.item(original: "http://pictures.example/a.jpg"))
    #expect(await slot.first { $0.shown == .original } != nil)
    slow.gate.open()
  }

  @Test func `when a program ends no count is still on its way to the ledger`() async throws {
    let slow = SlowLedger(ledger)
    let meter = UsageMeter(slow, network: TestLoader.Network(.wifi), time: time.time, on: writes)
    let tally = meter.begin(try ImageURL("http://pictures.example/a.jpg"))
    tally.add(10)
    tally.end()
    while !slow.isAsked { await Task.yield() }
    let ended = RecordedValues<[String]>()
    // On another thread, as it waits for the ledger.
    let ending = Task(executorPreference: ThreadExecutor("test")) {
      meter.endAll()
      ended.add(ledger.lines)
    }
    // Enough time for the end to overtake the pending count.
    for _ in 0..<10_000 where ended.all.isEmpty { await Task.yield() }
    slow.gate.open()
    await ending.value
    #expect(ended.all == [["wifi no 10 1"]])
  }

  /// The progress of a download, and the network.
  private final class Stage: Sendable {
    let hasHead = Atomic(false)
    let isHandedOver = Atomic(false)
  }

  static let handovers: [(network: NetworkKind, metered: Metered)] = [(.cellular, .yes), (.wifi, .yes)]

  @Test(.timeLimit(.minutes(10)), arguments: handovers)
  func `a handover counts although no caller reads the network state`(
    _ network: NetworkKind,
    _ metered: Metered
  ) async throws {
    let stage = Stage()
    let downloader = TestDownloader(body: SampleImage.jpeg) {
      stage.hasHead.store(true, ordering: .releasing)
      while !stage.isHandedOver.load(ordering: .acquiring) { await Task.yield() }
    }
    let bench = try TestLoader(.wifi, downloader: downloader, usage: ledger)
    let wifi = SituationOverride(fact: "network", value: "wifi", source: "test")
    let loader = ImageLoader(
      bench.loader.resources,
      overrides: try CheckedOverride.check([wifi], among: .standard)
    )
    let item = try item()
    let load = Task { try await loader.load(item) }
    while !stage.hasHead.load(ordering: .acquiring) { await Task.yield() }
    await bench.become(network, metered: metered)
    stage.isHandedOver.store(true, ordering: .releasing)
    _ = try await load.value
    #expect(ledger.lines.contains("wifi no 100 1"))
    // On another path it may be requested again, while bytes still arrive.
    let later = ledger.lines.filter { $0 != "wifi no 100 1" }
    #expect(!later.isEmpty && later.allSatisfy { $0.hasPrefix("\(network) \(metered) ") }, "\(later)")
  }

  // MARK: The budget

  private func bench(_ policy: String?) throws -> TestLoader {
    let bench = try TestLoader(.cellular, policy: policy, usage: ledger)
    bench.network.become(.cellular, metered: .yes)
    return bench
  }

  @Test func `a policy with a budget decides differently as the ledger fills`() throws {
    let bench = try bench("budgeted")
    let item = try item(size: 100_000)
    func decision() -> String {
      let resolution = bench.loader.resolve(item)
      let budget = resolution.facts.first { $0.name == "budget left" }
      return "\(budget?.value ?? "nothing"): \(resolution.decision.image) by rule \(resolution.decision.rule)"
    }
    #expect(decision() == "unknown: thumbnail by rule 6")
    try bench.settings.set(.cellularBudget, to: "600 MB")
    #expect(decision() == "600 MB: original by rule 5")
    ledger.add(ByteCount(100_000_000), transfers: 1, network: .cellular, metered: .yes)
    ledger.add(ByteCount(900_000_000), transfers: 1, network: .wifi, metered: .no)
    #expect(decision() == "500 MB: original by rule 5", "Wi-Fi does not count")
    ledger.add(ByteCount(1), transfers: 0, network: .cellular, metered: .yes)
    #expect(decision().hasSuffix("thumbnail by rule 6"))
    ledger.add(ByteCount(480_000_000), transfers: 1, network: .cellular, metered: .yes)
    #expect(decision().hasSuffix("placeholder by rule 4"))
    ledger.add(ByteCount(480_000_000), transfers: 1, network: .cellular, metered: .yes)
    #expect(decision() == "0 B: placeholder by rule 4")
  }

  @Test func `the budget fact names its source and is read only if needed`() throws {
    let source = { (bench: TestLoader) in
      bench.loader.resolve(try self.item()).facts.first { $0.name == "budget left" }?.source ?? ""
    }
    let budgeted = try bench("budgeted")
    #expect(try source(budgeted) == "the setting cellular-budget is none")
    try budgeted.settings.set(.cellularBudget, to: "600 MB")
    ledger.add(ByteCount(1_500_000), transfers: 1, network: .cellular, metered: .yes)
    #expect(
      try source(budgeted) == "the setting cellular-budget, less 1.5 MB since \(ledger.today().monthText)-01"
    )
    #expect(try source(try bench(nil)) == "no rule depends on it")
  }
}

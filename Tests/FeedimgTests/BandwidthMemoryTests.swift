import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The measured bandwidth that one run of a program saves for the next.
@Suite final class BandwidthMemoryTests {
  private let root = FileManager.default.temporaryDirectory.path + "/feedimg-bandwidth-\(UUID().uuidString)"
  /// Neither the folder nor its parent exists at first.
  private var folder: String { root + "/state/feedimg" }
  private let home = NetworkState(
    kind: .wifi,
    metered: .no,
    device: "wlan0",
    via: ["wlan0"],
    route: "default via 192.0.2.1 dev wlan0",
    reason: "",
    meteredReason: ""
  )

  deinit { try? FileManager.default.removeItem(atPath: root) }

  private func memory() -> BandwidthMemory { BandwidthMemory(folder: folder) }

  /// Measures in another run.
  private func measure(_ bitsPerSecond: Int, at now: Double) {
    let memory = memory()
    #expect(memory.note(measured(bitsPerSecond, at: now), at: now))
    memory.flush()
  }

  private func measured(_ bitsPerSecond: Int, at now: Double) -> BandwidthMeasurement {
    BandwidthMeasurement(bitsPerSecond: bitsPerSecond, network: home.pathIdentity, time: now)
  }

  @Test func `another run reads the measured bandwidth and its time`() {
    #expect(memory().value(home, at: 1000) == nil)
    measure(2_000_000, at: 1000)
    let reading = BandwidthReading(live: nil, memory(), home, at: 1000 + 5 * 60)
    #expect(reading?.bitsPerSecond == 2_000_000)
    #expect(reading?.source == "measured 5 min ago")
    let live = BandwidthReading(live: measured(3_000_000, at: 1000), memory(), home, at: 1001)
    #expect(live?.bitsPerSecond == 3_000_000)
    #expect(live?.source == "measured by the transfers so far")
  }

  @Test(arguments: [
    (0.0, true), (86_399.0, true), (86_400.0, false),
    // The clock was set back.
    (-1.0, false),
  ])
  func `a measurement is valid for a day`(age: Double, holds: Bool) {
    measure(2_000_000, at: 100_000)
    #expect((memory().value(home, at: 100_000 + age) != nil) == holds)
  }

  @Test func `another network has no measurement`() {
    measure(2_000_000, at: 1000)
    var other = home
    other.route = "default via 198.51.100.1 dev wlan0"
    #expect(memory().value(other, at: 1000) == nil)
    other = home
    other.kind = .cellular
    #expect(memory().value(other, at: 1000) == nil)
  }

  @Test func `a loader uses a rate only on the network and the day of its measurement, and saves both`()
    async throws
  {
    let clock = TestClock()
    let start = clock.now
    let body = SampleImage.jpeg + [UInt8](repeating: 0, count: LinkMeter.sampleBytes)
    let test = try TestLoader(
      downloader: HeldDownloader(
        holding: { _ in false },
        responding: { _ in HeldDownloader.Response(body: body) }
      ),
      clock: { clock.now },
      bandwidthMemory: memory()
    )
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    _ = try await test.loader.load(item)
    func bandwidth() -> Int? { test.loader.resolve(item).situation.bandwidth }
    #expect(bandwidth() != nil)
    // The loader rests, so that no monitor tells it of the other network.
    await test.loader.resources.factMonitor.rest()
    test.network.become(.cellular)
    #expect(bandwidth() == nil)
    test.loader.writeUsage()
    let tether = test.network.currentState()
    test.network.become(.wifi)
    clock += 86_000
    #expect(bandwidth() != nil)
    #expect(memory().value(tether, at: clock.now) == nil)
    #expect(memory().value(test.network.currentState(), at: clock.now)?.time == start)
    clock += 400
    #expect(bandwidth() == nil)
  }

  @Test func `a write is due once a minute`() {
    let memory = memory()
    #expect(memory.note(measured(1_000_000, at: 1000), at: 1000))
    memory.flush()
    #expect(!memory.note(measured(2_000_000, at: 1059), at: 1059))
    #expect(self.memory().value(home, at: 1060)?.bitsPerSecond == 1_000_000)
    #expect(memory.note(measured(3_000_000, at: 1060), at: 1060))
    memory.flush()
    #expect(self.memory().value(home, at: 1060)?.bitsPerSecond == 3_000_000)
    #expect(!memory.note(measured(3_000_000, at: 1060), at: 1200), "the file holds it")
  }

  @Test(arguments: ["", "{", "[]", #"{"bitsPerSecond":-1,"network":"wifi","time":0}"#, "\u{0}\u{0}"])
  func `a damaged file counts as absent`(text: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: folder + "/bandwidth.json"))
    #expect(memory().value(home, at: 1000) == nil)
    measure(2_000_000, at: 1000)
    #expect(memory().value(home, at: 1000)?.bitsPerSecond == 2_000_000)
  }
}

import Feedimg
import FeedimgTesting
import FoundationEssentials
import Testing

/// The testing product, as a program uses it.
@Suite(.timeLimit(.minutes(10))) struct TestEnvironmentTests {
  private let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  private let item: FeedItem

  init() throws {
    item = FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("https://x.example/a.png")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("https://x.example/s.png"))
    )
  }

  private func environment(_ kind: NetworkKind = .wifi) throws -> TestEnvironment {
    let test = try TestEnvironment(kind)
    for url in ["https://x.example/a.png", "https://x.example/s.png"] {
      test.server[url] = .image(png, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    }
    return test
  }

  @Test func `the network of a test decides`() async throws {
    let test = try environment(.cellular)
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
    test.network.become(.wifi)
    #expect(try await test.loader.load(item).variant.role == .original)
    #expect(test.server.requests.map(\.url.text) == ["https://x.example/s.png", "https://x.example/a.png"])
  }

  @Test func `the folders of the configuration are not used`() throws {
    let machine = try TestEnvironment()
    let policies = URL(filePath: machine.folder + "/policies")
    try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
    let table = "| network | → image |\n|---|---|\n| - | placeholder |\n"
    try Data(table.utf8).write(to: policies.appending(path: "default.md"))
    var configuration = ImageLoader.Configuration(environment: [:])
    configuration.configurationFolder = machine.folder
    configuration.systemFolder = machine.folder
    let test = try TestEnvironment(configuration: configuration)
    #expect(test.loader.resolve(item).decision.image == .original)
    withExtendedLifetime(machine) {}
  }

  @Test func `a recorded network decides, and says why`() async throws {
    let test = try environment(.offline)
    test.network.replay(.phoneOverUSB)
    let image = try await test.loader.load(item)
    #expect(image.variant.role == .thumbnail)
    #expect(test.network.state.reason == "`usb0` is a phone shared by USB (driver rndis_host)")
  }

  struct Recorded: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let network: RecordedNetwork
    let kind: NetworkKind
    let metered: Metered
    let why: String
    init(_ name: String, _ network: RecordedNetwork, _ kind: NetworkKind, _ metered: Metered, _ why: String) {
      (testDescription, self.network, self.kind, self.metered, self.why) = (name, network, kind, metered, why)
    }
  }

  @Test(arguments: [
    Recorded("Wi-Fi", .wifi, .wifi, .no, "nl80211 says that the interface is a station"),
    Recorded("limited Wi-Fi", .limitedWifi, .wifi, .yes, "the beacon has a Network Cost element"),
    Recorded("a phone over Wi-Fi", .phoneOverWifi, .wifi, .yes, "the beacon has Apple's element"),
    Recorded("a phone over USB", .phoneOverUSB, .cellular, .yes, "the driver is rndis_host"),
    Recorded("a USB modem", .usbModem, .cellular, .yes, "the driver is qmi_wwan"),
    Recorded("WireGuard", .wireGuardOverWifi, .wifi, .no, "the mark of its packets leads to Wi-Fi"),
    Recorded("no route", .offline, .offline, .no, "the kernel replied ENETUNREACH"),
  ])
  func `recorded messages are classified as those of a live kernel`(_ recorded: Recorded) {
    let state = recorded.network.state
    #expect(state.kind == recorded.kind, "\(recorded.why); \(state.reason)")
    #expect(state.metered == recorded.metered, "\(recorded.why); \(state.meteredReason)")
  }

  @Test func `bytes that are no messages are offline`() {
    #expect(RecordedNetwork(routing: [1, 2, 3]).state.kind == .offline)
  }

  @Test func `the clock of a test makes an image stale, and the server confirms it`() async throws {
    let test = try environment()
    _ = try await test.loader.load(item)
    #expect(try await test.loader.load(item).freshness?.isFresh == true)
    test.clock.advance(by: .seconds(100))
    let stale = try await test.loader.load(item)
    #expect(stale.freshness?.isFresh == false)
    #expect(await test.loader.revalidation(of: stale) == .unchanged)
    #expect(test.server.requests.last?.headers["If-None-Match"] == "\"1\"")
  }

  @Test func `a failure of the server reaches the program`() async throws {
    let test = try environment(.cellular)
    test.server["https://x.example/s.png"] = .failure(.security)
    let item = item
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.code == .security)
    test.server["https://x.example/s.png"] = nil
  }

  @Test func `values for the tests of views can be made`() throws {
    let image = try #require(LoadedImage.fake(png, of: item, role: .thumbnail))
    #expect(image.mediaType == "image/png" && image.resolution.decision.image == .thumbnail)
    let presentation = Presentation.fake(item, image: image, error: .fake(.timeout))
    #expect(presentation.shown == .thumbnail && presentation.error?.code == .timeout)
    #expect(Presentation.fake(item).shown == .placeholder)
    #expect(Resolution.fake(item, image: .original, network: .offline).url == item.original?.url)
  }
}

import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The request fields that identify the client, with a real server and a real disk.
@Suite(.timeLimit(.minutes(10))) struct RequestIdentityTests {
  static let rows: [(NetworkKind, Metered, Bool, Bool)] = [
    (.wifi, .no, false, false), (.wifi, .yes, false, true), (.cellular, .yes, false, true),
    (.wifi, .unknown, false, false), (.wifi, .no, true, true),
  ]

  @Test(arguments: rows)
  func `Save-Data is sent when data is metered or saved`(
    _ kind: NetworkKind,
    _ metered: Metered,
    _ savesData: Bool,
    _ isSent: Bool
  ) async throws {
    let server = try LoopbackServer { _ in
      .response(200, [("Vary", "Save-Data, Accept")], body: SampleImage.jpeg)
    }
    let bench = try TestLoader(kind)
    bench.network.become(kind, metered: metered)
    if savesData { try bench.settings.set(.savesData, to: "yes") }
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/a.jpg")
    let image = try await bench.loader.load(item)
    let request = try #require(server.log.requests.first)
    #expect(request["Save-Data"] == (isSent ? "on" : nil))
    #expect(request["Accept"] == ImageLoader.usualAccept)
    #expect(request["User-Agent"] == "feedimg-tests")
    let saver = image.resolution.facts.first { $0.name == "data saver" }
    #expect(saver?.value == (savesData ? "on" : "off") && saver?.source == "the setting data-saver")
    // The stored response keeps the sent fields.
    let response = try #require(
      bench.loader.resources.storage.store.response(for: item.original?.url.key ?? "", to: nil)
    )
    #expect(response.varied["Save-Data"] == (isSent ? "on" : nil))
    #expect(response.varied["Accept"] == ImageLoader.usualAccept)
  }

  @Test func `a program's own user agent is sent as it is`() async throws {
    let server = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nowhere"])
    (configuration.userAgent, configuration.accept) = ("Tuba/0.9", "image/webp, */*;q=0.1")
    let identity = try RequestIdentity(configuration)
    #expect(identity.fields["Accept"] == "image/webp, */*;q=0.1")
    #expect(identity.sent["User-Agent"] == "Tuba/0.9")
    #expect(RequestIdentity(userAgent: "x", accept: "").sent["Accept"] == "*/*", "libcurl's own value")
    #expect(server.log.requests.isEmpty)
  }

  static let accepts: [(String?, Bool, String, String)] = [
    (nil, false, ImageLoader.usualAccept, "without a decoder, the usual formats"),
    (
      nil, true, (CodecDecoder().mediaTypes + ["*/*;q=0.1"]).joined(separator: ","),
      "the formats of the decoder"
    ),
    ("image/jpeg", true, "image/jpeg", "the program's own value"),
  ]

  @Test(arguments: accepts)
  func `the Accept field lists the formats that can be decoded`(
    _ said: String?,
    _ decodes: Bool,
    _ sent: String,
    _ why: String
  ) async throws {
    let server = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nowhere"])
    configuration.accept = said
    if decodes { configuration.decoder = CodecDecoder() }
    let bench = try TestLoader(identity: RequestIdentity(configuration))
    _ = try await bench.loader.load(try TestLoader.item(server, original: "/a.jpg"))
    #expect(server.log.requests.first?["Accept"] == sent, "\(why)")
  }

  @Test(arguments: ["a\r\nX-Evil: 1", "a\u{0}b", "a\nb", "\u{7F}"])
  func `an invalid header field is refused when the loader is created`(_ text: String) {
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nowhere"])
    configuration.userAgent = text
    let error = #expect(throws: ConfigurationError.self) { try RequestIdentity(configuration) }
    #expect(error?.messages == ["userAgent: expected one line of text, found control characters"])
    configuration.userAgent = "feedimg"
    configuration.accept = text
    #expect(throws: ConfigurationError.self) { try RequestIdentity(configuration) }
  }

  // MARK: Images that were chosen by Save-Data

  static let askings: [(String?, Bool, Double, RevalidationPlan, String)] = [
    (nil, false, 100, RevalidationPlan.none, "requested in the same way"),
    ("on", true, 100, .none, "requested in the same way, saving data"),
    (nil, true, 100, .none, "better than a new response would be, and cached"),
    ("on", false, 100, .meanwhile, "a better one may exist now, but this one is shown at once"),
    ("on", false, 5, .none, "just asked"), ("on", true, 4000, .meanwhile, "out of date"),
  ]

  @Test(arguments: askings)
  func `a cached image is shown at once, whatever its Save-Data field was`(
    _ stored: String?,
    _ savesData: Bool,
    _ age: Double,
    _ asking: RevalidationPlan,
    _ reason: String
  ) throws {
    var situation = Situation(network: .wifi, metered: .no, original: .cached, thumbnail: .none)
    situation.savesData = savesData
    let identity = RequestIdentity(userAgent: "feedimg")
      .adapted(to: situation, for: try ImageURL("http://a.example/"))
    let response = StoredResponse(
      head: ResponseHead(
        status: 200,
        fields: HTTPFields([
          .init(name: "Vary", value: "Save-Data"), .init(name: "Cache-Control", value: "max-age=3600"),
        ]),
        url: try ImageURL("http://pictures.example/a.jpg")
      ),
      varied: HTTPFields(stored.map { [.init(name: "Save-Data", value: $0)] } ?? []),
      requestedAt: 0,
      respondedAt: 0
    )
    #expect(RevalidationPlan(response, by: identity, at: age) == asking, "\(reason)")
  }
}

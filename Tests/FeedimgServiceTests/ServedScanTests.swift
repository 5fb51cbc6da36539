import Feedimg
import FeedimgDecoding
import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Testing

/// What a program shows of an image that the service loads for it.
@Suite(.timeLimit(.minutes(10))) struct ServedScanTests {
  /// A progressive JPEG long enough to be forwarded before it is complete, with its scans in the middle.
  private static func picture() throws -> (bytes: [UInt8], firstScanEnd: Int) {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let clouds = Array(
      try Data(contentsOf: tests.appending(path: "FeedimgDecodingTests/Fixtures/clouds.jpg"))
    )
    // A comment before (ITU-T T.81, B.2.4.5), and bytes after it that decoders ignore.
    let comment = [0xFF, 0xFE, 0x75, 0x30] + [UInt8](repeating: 0x20, count: 0x7530 - 2)
    let bytes = clouds[..<2] + comment + clouds[2...] + [UInt8](repeating: 0, count: 30_000)
    return (Array(bytes), comment.count + 900)
  }

  @Test func `a scan is shown before the service has the whole image`() async throws {
    let (gate, (bytes, end)) = (Gate(), try Self.picture())
    let origin = try LoopbackServer { _ in
      .stalled(bytes, after: end, until: gate, [("Content-Type", "image/jpeg")])
    }
    let service = try ServiceRun(["--network=wifi"])
    var configuration = ImageLoader.Configuration(environment: ServiceRun.variables(service.root))
    configuration.service = service.socket
    configuration.decoder = CodecDecoder()
    configuration.overrides = [SituationOverride(fact: "network", value: "wifi", source: "the test")]
    let loader = try ImageLoader(configuration)
    let slot = loader.slot()
    let original = ImageVariant(role: .original, url: try ImageURL(origin.url("/a.jpg")))
    slot.show(
      FeedItem(original: original, thumbnail: nil),
      pixels: DecodeRequest(DisplaySize(width: 64, height: 48))
    )
    var scan: ImageScan?
    for await presentation in slot.presentations {
      if scan == nil, presentation.scan != nil {
        scan = presentation.scan
        gate.open()
      }
      // Without a scan, this loop hangs until the time limit.
      if !presentation.isLoading {
        #expect(presentation.shown == .original && presentation.scan == nil)
        break
      }
    }
    #expect(scan?.variant == original)
    #expect(scan?.detail == PixelSize(width: 32, height: 24))
    let summary = loader.serviceSummary ?? "no summary"
    #expect(summary == "1 image loaded by the service at `\(service.socket)`")
    #expect(origin.log.requests.map(\.path) == ["/a.jpg"])
  }
}

import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct MultiplexingTests {
  @Test(.enabled(if: NginxServer.isAvailable, "no nginx or openssl to serve HTTP/2"))
  func `loads from one HTTP/2 server share a connection`() async throws {
    let server = try NginxServer(serving: SampleImage.jpeg)
    let downloader = CurlDownloader(
      userAgent: "feedimg-tests",
      certificateFile: server.certificateFile
    )
    let test = try TestLoader(downloader: downloader)
    let items = try (0..<24).map { number in
      let url = try ImageURL("https://localhost:\(server.port)/\(number)")
      return FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    }
    // With HTTP/1.1 there would be more than one connection.
    #expect(await test.loader.resources.transport.scheduler.limits.perHost > 1)
    let progress = await test.loader.prefetch(items).finish()
    #expect(progress.fetched == 24)
    let notes = server.notes(24)
    #expect(notes.count == 24)
    #expect(Set(notes).count == 1)
    #expect(notes.first?.version == "HTTP/2.0")
  }
}

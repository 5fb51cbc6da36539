import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct StaleReadTests {
  /// Behaviour 15.
  @Test func `an earlier item whose disk read ends late is not shown`() async throws {
    let server = try LoopbackServer { request in
      .response(
        200,
        [("Content-Type", "image/jpeg")],
        body: SampleImage.jpeg + (request.path == "/a" ? [1] : [])
      )
    }
    let first = try TestLoader()
    let (a, b) = (try TestLoader.item(server, original: "/a"), try TestLoader.item(server, original: "/b"))
    _ = try await first.loader.load(a)
    let key = try #require(a.original?.url.key)
    // The image is on disk and not in memory, as after a restart.
    var made: HeldStore?
    let second = try TestLoader(
      folder: first.folder,
      store: { disk in
        let store = HeldStore(disk, holding: key)
        made = store
        return store
      }
    )
    let store = try #require(made)
    let slot = second.loader.slot()
    slot.show(a)
    store.waitForRead()
    slot.show(b)
    store.release()
    for await presentation in slot.presentations {
      #expect(presentation.item == b)
      #expect(presentation.image?.bytes.count ?? SampleImage.jpeg.count == SampleImage.jpeg.count)
      if !presentation.isLoading { break }
    }
    #expect(slot.presentation?.image?.bytes == SampleImage.jpeg)
    #expect(store.reads == 1)
    #expect(server.log.requests.map(\.path) == ["/a", "/b"])
    withExtendedLifetime(first) {}
  }
}

import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What a load does where the original cannot be had, or not for long.
@Suite struct FallbackTests {
  private static let picture = Reply.answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  /// Keeps what it is asked for, and fetches nothing.
  private final class Refusing: Downloading {
    let requests = Mutex<[DownloadRequest]>([])

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      requests.withLock { $0.append(request) }
      throw LoadError(.connection, url: request.url, message: "refused by the test")
    }
  }

  @Test func `the thumbnail takes the place of an original that is gone`() async throws {
    let server = try LoopbackServer { $0.target == "/s.jpg" ? Self.picture : .answer(410) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let image = try await test.loader.load(item)
    #expect(image.variant.role == .thumbnail)
    #expect(image.notes == ["shown in place of the original: the server answered 410 Gone"])
  }

  @Test func `where both fail the error is the original's and tells of the thumbnail`() async throws {
    let server = try LoopbackServer { $0.target == "/s.jpg" ? .answer(503) : .answer(404) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.status == 404)
    #expect(error?.url == item.original?.url)
    #expect(
      error?.message
        == "the server answered 404 Not Found; "
        + "the thumbnail failed as well: the server answered 503 Service Unavailable"
    )
  }

  @Test func `a load that is cancelled while it turns to the thumbnail says so`() async throws {
    let gate = Gate()
    let server = try LoopbackServer {
      $0.target == "/s.jpg" ? .held(by: gate, then: Self.picture) : .answer(404)
    }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 2 }
    load.cancel()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .cancelled)
    gate.open()
  }

  @Test func `a transfer may not take for ever`() async throws {
    let downloader = Refusing()
    let test = try TestLoader(downloader: downloader)
    let url = try ImageURL("http://127.0.0.1/a")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(downloader.requests.withLock { $0.map(\.totalTimeout) } == [.seconds(600)])
  }
}

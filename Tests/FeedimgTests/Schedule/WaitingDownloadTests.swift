import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Downloads that wait for a slot, or for the end of a cancelled download of the same image.
@Suite(.timeLimit(.minutes(10))) struct WaitingDownloadTests {
  /// Counts the downloads that wait for a slot.
  private final class Line: LoadObserving {
    private let count = Atomic(0)

    func observe(_ event: LoadEvent) {
      if case .queued = event.step { count.add(1, ordering: .releasing) }
    }

    func reaches(_ length: Int) async {
      while count.load(ordering: .acquiring) < length { await Task.yield() }
    }
  }

  /// Delivers a quarter of the picture first, and stops long after it was told to.
  private final class LingeringDownloader: Downloading {
    private struct State {
      var requests: [DownloadRequest] = []
      var hasBegun = false
      var mayStop = false
    }

    private let state = Mutex(State())

    var ranges: [String?] { state.withLock { $0.requests.map { $0.fields["Range"] } } }
    var hasBegun: Bool { state.withLock(\.hasBegun) }

    func letStop() { state.withLock { $0.mayStop = true } }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let isFirst = state.withLock { state in
        state.requests.append(request)
        return state.requests.count == 1
      }
      let head = WaitingDownloadTests.head(request)
      try receiver.begin(head)
      let start = head.status == 206 ? 1000 : 0
      try receiver.receive(WaitingDownloadTests.picture[start..<(isFirst ? 1000 : 4000)])
      guard isFirst else { return head }
      state.withLock { $0.hasBegun = true }
      while !state.withLock(\.mayStop) { await Task.yield() }
      throw LoadError(.cancelled, url: request.url, message: "cancelled")
    }
  }

  private static let picture = PictureOrigin.picture(1, size: 4000)
  private static let strong = [("ETag", "\"1\""), ("Accept-Ranges", "bytes"), ("Content-Type", "image/jpeg")]
  private static let place = ("Content-Range", "bytes 1000-3999/4000")

  private static func head(_ request: DownloadRequest) -> ResponseHead {
    let isRest = request.fields["Range"] == "bytes=1000-"
    let fields = isRest ? strong + [place] : strong
    return ResponseHead(
      status: isRest ? 206 : 200,
      fields: HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) }),
      url: request.url,
      contentLength: isRest ? 3000 : 4000
    )
  }

  /// The number of body files that are being written.
  private func fileCount(_ test: TestLoader) throws -> Int {
    let folder = test.folder + "/cache/incoming"
    guard FileManager.default.fileExists(atPath: folder) else { return 0 }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return names.count { !$0.contains(".") }
  }

  @Test func `a download opens no file before its response`() async throws {
    let (downloader, line) = (HeldDownloader(holding: { _ in true }), Line())
    let test = try TestLoader(.cellular, downloader: downloader, time: ManualTime().time, observers: [line])
    let loads = try (0..<200).map { number in
      let item = try TestLoader.item(thumbnail: "http://h\(number % 20).example/\(number)")
      return Task { try await test.loader.load(item) }
    }
    await line.reaches(200)
    while downloader.running < 2 { await Task.yield() }
    #expect(try fileCount(test) == 0)
    downloader.release()
    for load in loads { #expect(try await load.value.path != nil) }
    #expect(try fileCount(test) == 0)
  }

  @Test func `a load resumes a cancelled one of the same image, however late that one stops`() async throws {
    let downloader = LingeringDownloader()
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let first = Task { try await test.loader.load(item) }
    while !downloader.hasBegun { await Task.yield() }
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    let second = Task { try await test.loader.load(item) }
    while test.loader.resources.loads.coalescer.count < 1 { await Task.yield() }
    downloader.letStop()
    #expect(try await second.value.bytes == Self.picture)
    #expect(downloader.ranges == [nil, "bytes=1000-"])
    #expect(await test.loader.resources.transport.scheduler.isIdle)
  }
}

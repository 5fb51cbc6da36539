import FeedimgModel
import FeedimgSystem
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How long one load waits for a host that does not respond.
@Suite(.timeLimit(.minutes(10))) struct SilentLoadTests {
  /// A host that lets every time limit expire.
  private final class Silent: Downloading {
    let time: ManualTime
    let asked = RecordedValues<DownloadRequest>()
    let connects: Bool

    init(_ time: ManualTime, connects: Bool) { (self.time, self.connects) = (time, connects) }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      asked.add(request)
      time.pass(connects ? request.responseTimeout : request.connectTimeout)
      throw LoadError(.timeout, url: request.url, message: "silence")
    }
  }

  @Test(arguments: [false, true])
  func `a load gives up on a silent host within thirty seconds in all`(_ connects: Bool) async throws {
    let time = ManualTime()
    let host = Silent(time, connects: connects)
    let test = try TestLoader(downloader: host, time: time.time, tries: 4)
    let item = try TestLoader.item(original: "http://silent.example/a")
    let isOver = Atomic(false)
    let load = Task {
      defer { isOver.store(true, ordering: .releasing) }
      return try await test.loader.load(item)
    }
    while !isOver.load(ordering: .acquiring) {
      time.passToNext()
      await Task.yield()
    }
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .timeout)
    #expect(time.time.now() <= .seconds(30))
    #expect(host.asked.all.count >= 2, "a dead connection is replaced")
  }
}

import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// A visible slot whose original fails for a while, on a host that serves other images.
@Suite(.timeLimit(.minutes(10))) struct FailedOriginalSlotTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private let time = ManualTime()

  /// Advances the clock from wait to wait until the condition holds.
  private func pass(until isSo: () async -> Bool) async {
    while await !isSo() {
      time.passToNext()
      await Task.yield()
    }
  }

  @Test(arguments: [1], [false, true])
  func `a visible slot requests its original again with backoff until the host delivers it`(
    _ tries: Int,
    _ isThumbnailCached: Bool
  ) async throws {
    let isBroken = Atomic(true)
    let server = try LoopbackServer { request in
      request.path == "/a" && isBroken.load(ordering: .acquiring) ? .response(503) : Self.picture
    }
    let test = try TestLoader(isThumbnailCached ? .cellular : .wifi, time: time.time, tries: tries)
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    if isThumbnailCached {
      #expect(try await test.loader.load(item).variant.role == .thumbnail)
      await test.become(.wifi)
    }
    let slot = test.loader.slot()
    slot.show(item)
    await pass { slot.presentation?.error != nil && slot.presentation?.isLoading == false }
    #expect(slot.presentation?.shown == .thumbnail)
    let retries = test.loader.resources.transport.retries
    while await retries.nextWake ?? .zero <= time.time.now() { await Task.yield() }
    let before = server.log.count(of: "/a")
    var waits: [Duration] = []
    for number in 1...6 {
      // Other images of the host are served meanwhile.
      _ = try await test.loader.load(try TestLoader.item(server, original: "/b\(number)"))
      let (start, asked) = (time.time.now(), server.log.count(of: "/a"))
      let due = await retries.nextWake ?? .zero
      await pass { time.time.now() >= due }
      // The clock stands still from here, so that only one request follows.
      while server.log.count(of: "/a") == asked { await Task.yield() }
      waits.append(time.time.now() - start)
      while await retries.nextWake ?? .zero <= time.time.now() { await Task.yield() }
    }
    // The first wait may still be one of the load itself.
    #expect(waits == waits.sorted() && waits[1] >= .seconds(4) && waits[5] >= .seconds(60), "\(waits)")
    #expect(server.log.count(of: "/a") == before + 6 * tries)
    isBroken.store(false, ordering: .releasing)
    await pass { slot.presentation?.shown == .original }
    #expect(slot.presentation?.error == nil)
  }
}

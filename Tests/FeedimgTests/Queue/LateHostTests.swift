import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What the loads of one host wait for another, with libcurl and real servers.
@Suite(.timeLimit(.minutes(10))) struct LateHostTests {
  private final class Heads: LoadObserving {
    private let count = Atomic(0)

    func observe(_ event: LoadEvent) {
      if case .answered = event.step { count.add(1, ordering: .releasing) }
    }

    func reach(_ number: Int) async {
      while count.load(ordering: .acquiring) < number { await Task.yield() }
    }
  }

  @Test(arguments: [false, true])
  func `the images of a host come although another takes all places and never sends one`(
    _ sendsHead: Bool
  ) async throws {
    let never = Gate()
    let head = Reply.stalled(SampleImage.jpeg, after: 0, until: never)
    let late = try LoopbackServer { _ in sendsHead ? head : .held(by: never) }
    let picture = Reply.answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let good = try LoopbackServer { _ in picture }
    let time = ManualTime()
    let heads = Heads()
    let test = try TestLoader(.wifi, time: time.time, observers: [heads])
    let waiting = try (0..<12).map { number in
      let item = try TestLoader.item(late, original: "/\(number)")
      return Task { try await test.loader.load(item) }
    }
    await late.reaches { $0.requests.count >= 4 }
    if sendsHead { await heads.reach(4) }
    #expect(test.loader.gate.limits.total == 4)
    let items = try (0..<2).map { number in
      let url = try ImageURL("http://localhost:\(good.port)/\(number)")
      return FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    }
    let loads = items.map { item in Task { try await test.loader.load(item) } }
    await time.pass(.seconds(1), when: 1)
    for load in loads { #expect(try await load.value.bytes == SampleImage.jpeg) }
    #expect(late.log.requests.count == 4, "nothing more is asked of the host that does not answer")
    for task in waiting { task.cancel() }
    for task in waiting { await #expect(throws: LoadError.self) { try await task.value } }
    while !test.loader.gate.isIdle { await Task.yield() }
  }
}

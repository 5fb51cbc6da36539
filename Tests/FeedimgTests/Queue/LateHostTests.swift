import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg

/// What the loads of one host wait for another, with libcurl and real servers.
@Suite(.timeLimit(.minutes(10))) struct LateHostTests {
  @Test func `the images of a host come although another takes all places and never answers`() async throws {
    let never = Gate()
    let late = try LoopbackServer { _ in .held(by: never) }
    let picture = Reply.answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let good = try LoopbackServer { _ in picture }
    let time = ManualTime()
    let test = try TestLoader(.wifi, time: time.time)
    let waiting = try (0..<12).map { number in
      let item = try TestLoader.item(late, original: "/\(number)")
      return Task { try await test.loader.load(item) }
    }
    await late.reaches { $0.requests.count >= 4 }
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

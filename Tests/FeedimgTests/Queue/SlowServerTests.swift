import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg

/// What the images of one host wait for a server that sends slowly, with libcurl and real servers.
@Suite(.timeLimit(.minutes(10))) struct SlowServerTests {
  @Test func `what is near comes beside something visible that its server drips`() async throws {
    let picture = PictureOrigin.picture(1, size: 30_000)
    let drops = [Gate(), Gate(), Gate()]
    let head = Reply.head(200, [("Content-Type", "image/jpeg"), ("Content-Length", "30000")])
    let dripping = try LoopbackServer { _ in
      Reply([
        .send(head + picture.prefix(1000)), .wait(drops[0]), .send(Array(picture[1000..<11_000])),
        .wait(drops[1]), .send(Array(picture[11_000..<21_000])), .wait(drops[2]),
        .send(Array(picture[21_000...])),
      ])
    }
    let quick = try LoopbackServer { _ in .answer(200, [("Content-Type", "image/jpeg")], body: picture) }
    let time = ManualTime()
    let test = try TestLoader(.wifi, time: time.time)
    let arrived = Gathered<Int>()
    let item = try TestLoader.item(dripping, original: "/v")
    let visible = Task { try await test.loader.load(item) { arrived.add($0.received.bytes) } }
    for (drop, count) in zip(drops, [1000, 11_000]) {
      while !arrived.all.contains(count) { await Task.yield() }
      time.pass(.milliseconds(1500))
      drop.open()
    }
    while !arrived.all.contains(21_000) { await Task.yield() }
    #expect(test.loader.gate.limits.besideUrgent == 0, "it looks like a slow link")
    let url = try ImageURL("http://localhost:\(quick.port)/n")
    let near = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    #expect(try await test.loader.load(near, priority: .near).bytes == picture)
    drops[2].open()
    #expect(try await visible.value.bytes == picture, "it was still under way")
  }
}

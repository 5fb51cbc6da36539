import FeedimgModel
import Testing

@testable import Feedimg

/// What transfers that are not answered leave to others.
@Suite struct LateAnswerTests {
  private static let slow = TransferLimits(total: 2, perHost: 2, besideUrgent: 0)

  /// Some of what one host has in all places is answered, and later an image of a host is wanted.
  private static let wishes: [(host: String, answered: Int, milliseconds: Int, begins: Bool, why: String)] = [
    ("b", 0, 999, false, "an answer may take a second"),
    ("b", 0, 1000, true, "what brings nothing takes nothing"),
    ("b", 1, 1000, true, "one place is as good as all"),
    ("b", .max, 9000, false, "what comes fills the link"),
    ("a", 0, 9000, false, "one host has its limits"),
  ]

  @Test(arguments: [2, 3, 4, 8, 32], wishes.indices)
  func `a host that is late to answer holds up itself alone`(total: Int, index: Int) {
    let wish = Self.wishes[index]
    var scene = QueueScene(TransferLimits(total: total, perHost: total, besideUrgent: 0))
    for number in 0..<total { scene.enter("\(number)", .visible, host: "a") }
    for number in 0..<min(total, wish.answered) { scene.answer("\(number)") }
    scene.pass(.milliseconds(wish.milliseconds))
    _ = scene.news()
    scene.enter("wish", .visible, host: wish.host)
    #expect(scene.news() == (wish.begins ? ["start wish"] : []), "\(wish.why)")
  }

  @Test func `who waits for a place beside a late host is told when there is one`() {
    var scene = QueueScene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    #expect(scene.queue.deadline == nil, "nobody waits for another host")
    for name in ["b1", "b2", "b3"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.queue.deadline == .seconds(1))
    _ = scene.news()
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start b1", "start b2"])
  }

  @Test func `places beside late hosts are as many again at most, and given back when answers come`() {
    var scene = QueueScene(Self.slow)
    for name in ["a1", "a2"] { scene.enter(name, .visible, host: "a") }
    scene.pass(.seconds(1))
    for name in ["b1", "b2"] { scene.enter(name, .visible, host: "b") }
    scene.pass(.seconds(1))
    for name in ["c1", "c2", "c3"] { scene.enter(name, .visible, host: "c") }
    #expect(scene.news() == ["a1", "a2", "b1", "b2"].map { "start \($0)" })
    scene.end("a1")
    #expect(scene.news() == ["start c1"])
    for name in ["a2", "b1", "b2", "c1"] { scene.answer(name) }
    for name in ["a2", "b1"] { scene.end(name) }
    #expect(scene.news() == [], "two run, all of them answered")
    scene.end("b2")
    #expect(scene.news() == ["start c2"])
  }

  @Test func `what begins anew in its place can be late once more`() {
    var scene = QueueScene(Self.slow)
    scene.enter("v", .visible, host: "a")
    scene.answer("v")
    scene.enter("n", .near, host: "b")
    scene.pass(.seconds(5))
    #expect(scene.news() == ["start v"], "what comes fills the link")
    scene.stopped("v")
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start n"])
  }

  @Test func `what brings nothing for two seconds counts as late, until it goes on`() {
    var scene = QueueScene(Self.slow)
    for name in ["a1", "a2"] {
      scene.enter(name, .visible, host: "a")
      scene.answer(name)
    }
    scene.enter("b1", .visible, host: "b")
    scene.pass(.seconds(5))
    #expect(scene.news() == ["start a1", "start a2"], "both come")
    scene.silent("a1")
    scene.pass(.milliseconds(1999))
    #expect(scene.news() == [])
    #expect(scene.queue.deadline == scene.now + .milliseconds(1))
    scene.pass(.milliseconds(1))
    #expect(scene.news() == ["start b1"])
    scene.enter("b2", .visible, host: "b")
    scene.answer("a1")
    scene.answer("b1")
    scene.end("a2")
    #expect(scene.news() == [], "two run, and both come")
    scene.end("b1")
    #expect(scene.news() == ["start b2"])
  }

  @Test func `nothing is stopped where its place would help nobody`() {
    var scene = QueueScene(TransferLimits(total: 2, perHost: 2, besideUrgent: 2))
    for name in ["p1", "p2"] { scene.enter(name, .prefetch, host: "a") }
    scene.pass(.seconds(1))
    for name in ["v1", "v2"] { scene.enter(name, .visible, host: "b") }
    _ = scene.news()
    scene.enter("v3", .visible, host: "c")
    #expect(scene.news() == [])
    // Of four that are late, it is better that two are visible.
    scene.pass(.seconds(1))
    #expect(scene.news() == ["stop p2", "start v3"])
  }

  // MARK: Beside something urgent

  @Test func `what is near begins beside something visible of another host that does not answer`() {
    var scene = QueueScene(Self.slow)
    scene.enter("v", .visible, host: "a")
    scene.enter("own", .near, host: "a")
    scene.enter("n", .near, host: "b")
    #expect(scene.queue.deadline == .seconds(1))
    #expect(scene.news() == ["start v"])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start n"], "its own host is held up alone")
    // Now that it comes, the link is needed for it.
    scene.answer("v")
    #expect(scene.news() == ["stop n"])
    scene.stopped("n")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(Set(scene.news()) == ["start own", "start n"])
  }

  @Test func `something visible that is late gives back what it took from a prefetch`() {
    var scene = QueueScene(Self.slow)
    scene.enter("p", .prefetch, host: "b")
    scene.answer("p")
    scene.enter("v", .visible, host: "a")
    scene.stopped("p")
    #expect(scene.news() == ["start p", "start v", "stop p"])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start p"])
    scene.enter("w", .visible, host: "b")
    #expect(scene.news() == ["start w", "stop p"], "what is not late yet counts")
  }

  @Test func `what waits for a host that is late holds up no other, however visible`() {
    var scene = QueueScene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    scene.enter("n", .near, host: "b")
    _ = scene.news()
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start n"])
  }

  @Test func `what is late beside something visible leaves its place there to others, and need not stop`() {
    var scene = QueueScene(TransferLimits(total: 4, perHost: 4, besideUrgent: 1))
    scene.enter("late", .near, host: "a")
    scene.pass(.seconds(1))
    scene.enter("v", .visible, host: "b")
    scene.answer("v")
    for (name, host) in [("own", "a"), ("n", "c"), ("m", "c")] { scene.enter(name, .near, host: host) }
    #expect(scene.news() == ["start late", "start v", "start n"])
    scene.answer("late")
    #expect(scene.news() == ["stop n"], "one is too many, and it began last")
  }
}

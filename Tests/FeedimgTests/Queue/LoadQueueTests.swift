import FeedimgModel
import Testing

@testable import Feedimg

@Suite struct LoadQueueTests {
  private static let wide = TransferLimits(total: 8, perHost: 8, besideUrgent: 4)
  private static let slow = TransferLimits(total: 2, perHost: 2, besideUrgent: 0)
  private static let single = TransferLimits(total: 1, perHost: 1, besideUrgent: 1)

  @Test func `visible goes before near and near before prefetch, each in the order of asking`() {
    var scene = QueueScene(Self.single)
    scene.enter("first", .visible)
    for (name, priority) in [
      ("p1", LoadPriority.prefetch), ("n1", .near), ("p2", .prefetch), ("v1", .visible), ("n2", .near),
      ("v2", .visible),
    ] { scene.enter(name, priority) }
    _ = scene.news()
    for name in ["first", "v1", "v2", "n1", "n2", "p1", "p2"] { scene.end(name) }
    #expect(scene.news() == ["v1", "v2", "n1", "n2", "p1", "p2"].map { "start \($0)" })
    #expect(scene.queue.isEmpty)
  }

  @Test func `no more run than the limits allow, to one host and over all`() {
    var scene = QueueScene(TransferLimits(total: 3, perHost: 2, besideUrgent: 3))
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    #expect(scene.news().count == 2)
    for name in ["b1", "b2"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.news().count == 1)
    scene.end("a1")
    #expect(scene.news() == ["start a3"], "its host began something longest ago")
  }

  /// Behaviour 9.
  @Test func `beyond the limits a load waits, and those that are cancelled take no place`() {
    var scene = QueueScene(TransferLimits(total: 25, perHost: 25, besideUrgent: 25))
    for number in 1...30 { scene.enter("\(number)", .near) }
    #expect(scene.news() == (1...25).map { "start \($0)" })
    for number in 26...28 { scene.end("\(number)") }
    #expect(scene.news() == [])
    scene.end("1")
    scene.end("2")
    #expect(scene.news() == ["start 29", "start 30"])
  }

  @Test func `hosts take turns, however long the line of one`() {
    var scene = QueueScene(Self.single)
    for number in 1...4 { scene.enter("a\(number)", .visible, host: "a") }
    for number in 1...2 { scene.enter("b\(number)", .visible, host: "b") }
    scene.enter("c1", .visible, host: "c")
    _ = scene.news()
    for name in ["a1", "b1", "c1", "a2", "b2", "a3"] { scene.end(name) }
    #expect(scene.news() == ["b1", "c1", "a2", "b2", "a3", "a4"].map { "start \($0)" })
  }

  @Test func `a host that asks again and again does not hold up one that waits`() {
    var scene = QueueScene(Self.single)
    scene.enter("b0", .visible, host: "b")
    scene.enter("a1", .visible, host: "a")
    scene.enter("b1", .visible, host: "b")
    scene.end("b0")
    scene.enter("a2", .visible, host: "a")
    _ = scene.news()
    scene.end("a1")
    #expect(scene.news() == ["start b1"])
  }

  /// Behaviour 3.
  @Test func `a queued prefetch moves up when something visible asks for it and drops back when that leaves`()
  {
    var scene = QueueScene(Self.single)
    for name in ["running", "p1", "p2", "p3"] { scene.enter(name, .prefetch) }
    scene.keepGoing("running")
    scene.set("p3", .visible)
    scene.set("p2", .visible)
    scene.set("p2", .prefetch)
    _ = scene.news()
    for name in ["running", "p3", "p1"] { scene.end(name) }
    #expect(scene.news() == ["start p3", "start p1", "start p2"])
  }

  @Test func `something visible takes the place of the prefetch that began last, which goes on first`() {
    var scene = QueueScene(TransferLimits(total: 2, perHost: 2, besideUrgent: 1))
    for name in ["p1", "p2", "p3"] { scene.enter(name, .prefetch) }
    _ = scene.news()
    scene.enter("v", .visible)
    #expect(scene.news() == ["stop p2", "start v"])
    scene.stopped("p2")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(scene.news() == ["start p2"])
  }

  @Test func `on a slow link all prefetching stops for something visible`() {
    var scene = QueueScene(Self.slow)
    scene.enter("p1", .prefetch)
    _ = scene.news()
    scene.enter("v", .visible)
    #expect(scene.news() == ["start v", "stop p1"])
    scene.stopped("p1")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(scene.news() == ["start p1"])
  }

  @Test func `what would have to stop at once does not begin`() {
    var scene = QueueScene(TransferLimits(total: 8, perHost: 8, besideUrgent: 2))
    scene.enter("v", .visible)
    for name in ["n1", "n2"] { scene.enter(name, .near) }
    scene.enter("p", .prefetch)
    #expect(scene.news() == ["start v", "start n1", "start n2"])
  }

  @Test func `what cannot be gone on with is not stopped`() {
    var scene = QueueScene(Self.single)
    scene.enter("p", .prefetch)
    scene.keepGoing("p")
    scene.enter("v", .visible)
    scene.end("p")
    #expect(scene.news() == ["start p", "start v"])
  }

  @Test func `something visible of a host that is full takes no place of another host`() {
    var scene = QueueScene(TransferLimits(total: 4, perHost: 1, besideUrgent: 4))
    scene.enter("v1", .visible, host: "a")
    scene.enter("p1", .prefetch, host: "b")
    _ = scene.news()
    scene.enter("v2", .visible, host: "a")
    #expect(scene.news() == [])
    scene.enter("v3", .visible, host: "b")
    #expect(scene.news() == ["stop p1", "start v3"])
  }

  @Test func `a prefetch beside a visible image that takes for ever gets a place after ten seconds`() {
    var scene = QueueScene(Self.slow)
    scene.enter("v", .visible)
    scene.enter("p1", .prefetch)
    scene.enter("p2", .prefetch)
    _ = scene.news()
    #expect(scene.queue.deadline == .seconds(10))
    scene.pass(.seconds(9))
    #expect(scene.news() == [])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start p1"])
    // It is not taken away, and the next one waits as long.
    scene.enter("v2", .visible)
    #expect(scene.news() == ["start v2"])
    scene.end("p1")
    #expect(scene.news() == [])
    scene.pass(.seconds(10))
    #expect(scene.news() == ["start p2"])
  }

  @Test
  func `something visible behind what cannot be gone on with gets a place after a second, then the next`() {
    var scene = QueueScene(Self.slow)
    for name in ["p1", "p2"] {
      scene.enter(name, .prefetch)
      scene.answer(name)
      scene.keepGoing(name)
    }
    for name in ["v1", "v2", "v3"] { scene.enter(name, .visible) }
    #expect(scene.news() == ["start p1", "start p2"])
    #expect(scene.queue.deadline == .seconds(1))
    scene.pass(.milliseconds(999))
    #expect(scene.news() == [])
    scene.pass(.milliseconds(1))
    #expect(scene.news() == ["start v1"])
    scene.pass(.seconds(20))
    #expect(scene.news() == [], "one at a time is beyond the limits")
    #expect(scene.queue.deadline == nil)
    scene.end("v1")
    #expect(scene.news() == ["start v2"])
    scene.end("p1")
    #expect(scene.news() == ["start v3"])
  }

  @Test func `what is less urgent leaves something visible a place beyond the limits`() {
    var scene = QueueScene(Self.single)
    scene.enter("v1", .visible)
    scene.answer("v1")
    for (name, priority) in [("n", LoadPriority.near), ("p", .prefetch)] { scene.enter(name, priority) }
    scene.pass(.seconds(10))
    #expect(scene.news() == ["start v1", "start n"])
    // It cannot be stopped, and nobody looks at it any more.
    scene.keepGoing("v1")
    scene.set("v1", .prefetch)
    scene.enter("v2", .visible)
    #expect(scene.queue.deadline == scene.now + .seconds(1))
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start v2"])
  }

  @Test(arguments: [true, false])
  func `what was granted a place and is out of sight holds up nothing visible`(isStoppable: Bool) {
    var scene = QueueScene(Self.single)
    scene.enter("p", .prefetch)
    scene.answer("p")
    scene.keepGoing("p")
    scene.enter("v1", .visible)
    scene.pass(.seconds(1))
    scene.enter("n", .near)
    scene.pass(.seconds(10))
    #expect(scene.news() == ["start p", "start v1", "start n"])
    for name in ["v1", "n"] where !isStoppable { scene.keepGoing(name) }
    scene.set("v1", .prefetch)
    scene.enter("v2", .visible)
    #expect(scene.queue.deadline == scene.now + .seconds(1))
    scene.pass(.seconds(1))
    #expect(scene.news() == (isStoppable ? ["stop v1", "start v2"] : ["start v2"]))
    scene.set("v2", .near)
    scene.keepGoing("v2")
    scene.enter("v3", .visible)
    scene.pass(.seconds(20))
    #expect(scene.news() == (isStoppable ? ["stop n", "start v3"] : []), "but for one beyond all")
  }

  @Test func `what is near and what is prefetched have places beyond the limits by turns`() {
    var scene = QueueScene(Self.single)
    scene.enter("v", .visible)
    scene.answer("v")
    for number in 1...2 {
      scene.enter("n\(number)", .near)
      scene.enter("p\(number)", .prefetch)
    }
    for name in ["n1", "p1", "n2"] {
      scene.pass(.seconds(10))
      scene.end(name)
    }
    #expect(scene.news() == ["v", "n1", "p1", "n2", "p2"].map { "start \($0)" })
  }

  @Test func `who may be given no place beyond the limits is not looked at again and again`() {
    var scene = QueueScene(Self.slow)
    scene.enter("v", .visible)
    // Each is granted a place, and then wanted to be seen as well.
    for name in ["a", "b"] {
      scene.enter(name, .prefetch)
      scene.pass(.seconds(10))
      scene.set(name, .visible)
    }
    #expect(scene.news() == ["start v", "start a", "start b"])
    scene.enter("c", .prefetch)
    scene.pass(.seconds(10))
    #expect(scene.queue.deadline == nil)
    scene.pass(.seconds(10))
    #expect(scene.news() == [])
    scene.end("a")
    #expect(scene.news() == ["start c"], "it has waited for longer than ten seconds")
  }

  @Test func `more places are used as soon as they are allowed`() {
    var scene = QueueScene(Self.single)
    for name in ["a", "b", "c"] { scene.enter(name, .near) }
    _ = scene.news()
    scene.tell(scene.queue.setLimits(TransferLimits(total: 2, perHost: 2, besideUrgent: 2), at: scene.now))
    #expect(scene.news() == ["start b"])
  }

  @Test func `telling twice that a load has left or was stopped does nothing`() {
    var scene = QueueScene(Self.single)
    scene.enter("a", .near)
    scene.stopped("a")
    scene.end("a")
    scene.end("a")
    scene.stopped("a")
    scene.set("a", .visible)
    #expect(scene.news() == ["start a"])
    #expect(scene.queue.isEmpty)
  }
}

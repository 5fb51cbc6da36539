import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct SchedulerStateTests {
  private static let slow = TransferLimits(total: 2, perHost: 2, besideUrgent: 0)
  private static let single = TransferLimits(total: 1, perHost: 1, besideUrgent: 1)

  // MARK: Order and limits

  @Test func `visible comes before near and near before prefetch, each in order of arrival`() {
    var scene = SchedulerScene(Self.single)
    scene.enter("first", .visible)
    for (name, priority) in [
      ("p1", LoadPriority.prefetch), ("n1", .near), ("p2", .prefetch), ("v1", .visible), ("n2", .near),
      ("v2", .visible),
    ] { scene.enter(name, priority) }
    _ = scene.news()
    for name in ["first", "v1", "v2", "n1", "n2", "p1", "p2"] { scene.end(name) }
    #expect(scene.news() == ["v1", "v2", "n1", "n2", "p1", "p2"].map { "start \($0)" })
    #expect(scene.state.isEmpty)
  }

  @Test func `the limits per host and in total hold`() {
    var scene = SchedulerScene(TransferLimits(total: 3, perHost: 2, besideUrgent: 3))
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    #expect(scene.news().count == 2)
    for name in ["b1", "b2"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.news().count == 1)
    scene.end("a1")
    #expect(scene.news() == ["start a3"], "its host has waited longest since its last start")
  }

  /// Behaviour 9.
  @Test func `a download that is cancelled while it waits takes no slot`() {
    var scene = SchedulerScene(TransferLimits(total: 25, perHost: 25, besideUrgent: 25))
    for number in 1...30 { scene.enter("\(number)", .near) }
    #expect(scene.news() == (1...25).map { "start \($0)" })
    for number in 26...28 { scene.end("\(number)") }
    #expect(scene.news() == [])
    scene.end("1")
    scene.end("2")
    #expect(scene.news() == ["start 29", "start 30"])
  }

  @Test func `hosts take turns, however many downloads of one host wait`() {
    var scene = SchedulerScene(Self.single)
    for number in 1...4 { scene.enter("a\(number)", .visible, host: "a") }
    for number in 1...2 { scene.enter("b\(number)", .visible, host: "b") }
    scene.enter("c1", .visible, host: "c")
    _ = scene.news()
    for name in ["a1", "b1", "c1", "a2", "b2", "a3"] { scene.end(name) }
    #expect(scene.news() == ["b1", "c1", "a2", "b2", "a3", "a4"].map { "start \($0)" })
  }

  @Test func `a host with ever new downloads never delays a waiting one of another host`() {
    var scene = SchedulerScene(Self.single)
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
  @Test func `a waiting prefetch moves up when it becomes visible, and drops back afterwards`() {
    var scene = SchedulerScene(Self.single)
    for name in ["running", "p1", "p2", "p3"] { scene.enter(name, .prefetch) }
    scene.refusePreemption("running")
    scene.set("p3", .visible)
    scene.set("p2", .visible)
    scene.set("p2", .prefetch)
    _ = scene.news()
    for name in ["running", "p3", "p1"] { scene.end(name) }
    #expect(scene.news() == ["start p3", "start p1", "start p2"])
  }

  @Test func `higher limits are used at once`() {
    var scene = SchedulerScene(Self.single)
    for name in ["a", "b", "c"] { scene.enter(name, .near) }
    _ = scene.news()
    scene.set(TransferLimits(total: 2, perHost: 2, besideUrgent: 2))
    #expect(scene.news() == ["start b"])
  }

  @Test func `a download that leaves or stops twice changes nothing`() {
    var scene = SchedulerScene(Self.single)
    scene.enter("a", .near)
    scene.stopped("a")
    scene.end("a")
    scene.end("a")
    scene.stopped("a")
    scene.set("a", .visible)
    #expect(scene.news() == ["start a"])
    #expect(scene.state.isEmpty)
  }

  // MARK: Preemption

  @Test func `a visible download takes the slot of the latest prefetch, which resumes first`() {
    var scene = SchedulerScene(TransferLimits(total: 2, perHost: 2, besideUrgent: 1))
    for name in ["p1", "p2", "p3"] { scene.enter(name, .prefetch) }
    _ = scene.news()
    scene.enter("v", .visible)
    #expect(scene.news() == ["preempt p2", "start v"])
    scene.stopped("p2")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(scene.news() == ["start p2"])
  }

  @Test func `on a slow link a visible download preempts all others`() {
    var scene = SchedulerScene(Self.slow)
    scene.enter("p1", .prefetch)
    _ = scene.news()
    scene.enter("v", .visible)
    #expect(scene.news() == ["start v", "preempt p1"])
    scene.stopped("p1")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(scene.news() == ["start p1"])
  }

  @Test func `the download of lowest priority is preempted first`() {
    var scene = SchedulerScene(TransferLimits(total: 2, perHost: 2, besideUrgent: 2))
    scene.enter("p", .prefetch)
    scene.enter("n", .near)
    scene.enter("v", .visible)
    #expect(scene.news() == ["start p", "start n", "preempt p", "start v"])
  }

  @Test func `a download that would be preempted at once does not start`() {
    var scene = SchedulerScene(TransferLimits(total: 8, perHost: 8, besideUrgent: 2))
    scene.enter("v", .visible)
    for name in ["n1", "n2"] { scene.enter(name, .near) }
    scene.enter("p", .prefetch)
    #expect(scene.news() == ["start v", "start n1", "start n2"])
  }

  @Test func `a download that cannot be resumed keeps its slot`() {
    var scene = SchedulerScene(Self.single)
    scene.enter("p", .prefetch)
    scene.refusePreemption("p")
    scene.enter("v", .visible)
    scene.end("p")
    #expect(scene.news() == ["start p", "start v"])
  }

  @Test func `if the latest download cannot be resumed, the one before it is preempted`() {
    var scene = SchedulerScene(TransferLimits(total: 2, perHost: 2, besideUrgent: 2))
    for name in ["p1", "p2"] { scene.enter(name, .prefetch) }
    scene.refusePreemption("p2")
    scene.enter("v", .visible)
    #expect(scene.news() == ["start p1", "start p2", "preempt p1", "start v"])
  }

  @Test func `a visible download of a host at its limit takes no slot of another host`() {
    var scene = SchedulerScene(TransferLimits(total: 4, perHost: 1, besideUrgent: 4))
    scene.enter("v1", .visible, host: "a")
    scene.enter("p1", .prefetch, host: "b")
    _ = scene.news()
    scene.enter("v2", .visible, host: "a")
    #expect(scene.news() == [])
    scene.enter("v3", .visible, host: "b")
    #expect(scene.news() == ["preempt p1", "start v3"])
  }

  // MARK: Starvation

  @Test func `a prefetch beside an endless visible download gets a slot after ten seconds`() {
    var scene = SchedulerScene(Self.slow)
    scene.enter("v", .visible)
    scene.enter("p1", .prefetch)
    scene.enter("p2", .prefetch)
    _ = scene.news()
    #expect(scene.state.deadline == .seconds(10))
    scene.pass(.seconds(9))
    #expect(scene.news() == [])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start p1"])
    // It keeps the slot, and the next one waits as long.
    scene.enter("v2", .visible)
    #expect(scene.news() == ["start v2"])
    scene.end("p1")
    #expect(scene.news() == [])
    scene.pass(.seconds(10))
    #expect(scene.news() == ["start p2"])
  }

  @Test func `a visible download that can preempt nothing gets a slot after a second, then the next`() {
    var scene = SchedulerScene(Self.slow)
    for name in ["p1", "p2"] {
      scene.enter(name, .prefetch)
      scene.receive(name)
      scene.refusePreemption(name)
    }
    for name in ["v1", "v2", "v3"] { scene.enter(name, .visible) }
    #expect(scene.news() == ["start p1", "start p2"])
    #expect(scene.state.deadline == .seconds(1))
    scene.pass(.milliseconds(999))
    #expect(scene.news() == [])
    scene.pass(.milliseconds(1))
    #expect(scene.news() == ["start v1"])
    scene.pass(.seconds(20))
    #expect(scene.news() == [], "one at a time runs beyond the limits")
    #expect(scene.state.deadline == nil)
    scene.end("v1")
    #expect(scene.news() == ["start v2"])
    scene.end("p1")
    #expect(scene.news() == ["start v3"])
  }

  @Test func `visible downloads of a host without a running one get a slot after a second, one by one`() {
    var scene = SchedulerScene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    for name in ["a1", "a2"] { scene.receive(name) }
    for name in ["b1", "b2"] { scene.enter(name, .visible, host: "b") }
    _ = scene.news()
    scene.pass(.milliseconds(999))
    #expect(scene.news() == [], "two downloads fill a slow link")
    scene.pass(.milliseconds(1))
    #expect(scene.news() == ["start b1"], "their host may be the slow one")
    scene.pass(.seconds(20))
    #expect(scene.news() == [])
    scene.end("b1")
    #expect(scene.news() == ["start b2"])
    scene.end("b2")
    #expect(scene.news() == [], "host a has its slots")
  }

  @Test func `an extra slot for a lower priority leaves one for visible downloads`() {
    var scene = SchedulerScene(Self.single)
    scene.enter("v1", .visible)
    scene.receive("v1")
    for (name, priority) in [("n", LoadPriority.near), ("p", .prefetch)] { scene.enter(name, priority) }
    scene.pass(.seconds(10))
    #expect(scene.news() == ["start v1", "start n"])
    // It cannot be resumed, and its view is hidden.
    scene.refusePreemption("v1")
    scene.set("v1", .prefetch)
    scene.enter("v2", .visible)
    #expect(scene.state.deadline == scene.now + .seconds(1))
    scene.pass(.milliseconds(999))
    #expect(scene.news() == [])
    scene.pass(.milliseconds(1))
    #expect(scene.news() == ["start v2"])
  }

  @Test(arguments: [true, false])
  func `an extra download that is hidden never blocks a visible one`(isResumable: Bool) {
    var scene = SchedulerScene(Self.single)
    scene.enter("p", .prefetch)
    scene.receive("p")
    scene.refusePreemption("p")
    scene.enter("v1", .visible)
    scene.pass(.seconds(1))
    scene.enter("n", .near)
    scene.pass(.seconds(10))
    #expect(scene.news() == ["start p", "start v1", "start n"])
    for name in ["v1", "n"] where !isResumable { scene.refusePreemption(name) }
    scene.set("v1", .prefetch)
    scene.enter("v2", .visible)
    #expect(scene.state.deadline == scene.now + .seconds(1))
    scene.pass(.seconds(1))
    #expect(scene.news() == (isResumable ? ["preempt v1", "start v2"] : ["start v2"]))
    scene.set("v2", .near)
    scene.refusePreemption("v2")
    scene.enter("v3", .visible)
    scene.pass(.seconds(20))
    #expect(
      scene.news() == (isResumable ? ["preempt n", "start v3"] : []),
      "at most three run beyond the limits"
    )
  }

  @Test func `near and prefetch downloads take turns at the extra slot`() {
    var scene = SchedulerScene(Self.single)
    scene.enter("v", .visible)
    scene.receive("v")
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

  @Test func `a priority without an extra slot sets no deadline`() {
    var scene = SchedulerScene(Self.slow)
    scene.enter("v", .visible)
    // Each gets an extra slot and then becomes visible.
    for name in ["a", "b"] {
      scene.enter(name, .prefetch)
      scene.pass(.seconds(10))
      scene.set(name, .visible)
    }
    #expect(scene.news() == ["start v", "start a", "start b"])
    scene.enter("c", .prefetch)
    scene.pass(.seconds(10))
    #expect(scene.state.deadline == nil)
    scene.pass(.seconds(10))
    #expect(scene.news() == [])
    scene.end("a")
    #expect(scene.news() == ["start c"], "it has waited for longer than ten seconds")
  }
}

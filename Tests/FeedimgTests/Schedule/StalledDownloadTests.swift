import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Stalled downloads do not count for other hosts.
@Suite struct StalledDownloadTests {
  private static let slow = TransferLimits(total: 2, perHost: 2, besideUrgent: 0)

  /// One host has all slots and some of its bodies arrive.
  ///
  /// Then a download of the named host waits.
  private static let rows: [(host: String, receiving: Int, milliseconds: Int, starts: Bool, why: String)] = [
    ("b", 0, 999, false, "a response may take a second"),
    ("b", 0, 1000, true, "a stalled download takes no bandwidth"),
    ("b", 1, 1000, true, "one stalled download is enough"),
    ("b", .max, 9000, false, "the arriving bodies fill the link"),
    ("a", 0, 9000, false, "the host is at its limit"),
  ]

  @Test(arguments: [2, 3, 4, 8, 32], rows.indices)
  func `a host that does not respond delays only its own downloads`(total: Int, index: Int) {
    let row = Self.rows[index]
    var scene = SchedulerScene(TransferLimits(total: total, perHost: total, besideUrgent: 0))
    for number in 0..<total { scene.enter("\(number)", .visible, host: "a") }
    for number in 0..<min(total, row.receiving) { scene.receive("\(number)") }
    scene.pass(.milliseconds(row.milliseconds))
    _ = scene.news()
    scene.enter("next", .visible, host: row.host)
    #expect(scene.news() == (row.starts ? ["start next"] : []), "\(row.why)")
  }

  @Test func `downloads that wait beside a host that does not respond set a deadline`() {
    var scene = SchedulerScene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    #expect(scene.state.deadline == nil, "no other host waits")
    for name in ["b1", "b2", "b3"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.state.deadline == .seconds(1))
    _ = scene.news()
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start b1", "start b2"])
  }

  @Test func `at most twice the limit run, and the limit counts again when bytes come`() {
    var scene = SchedulerScene(Self.slow)
    for name in ["a1", "a2"] { scene.enter(name, .visible, host: "a") }
    scene.pass(.seconds(1))
    for name in ["b1", "b2"] { scene.enter(name, .visible, host: "b") }
    scene.pass(.seconds(1))
    for name in ["c1", "c2", "c3"] { scene.enter(name, .visible, host: "c") }
    #expect(scene.news() == ["a1", "a2", "b1", "b2"].map { "start \($0)" })
    scene.end("a1")
    #expect(scene.news() == ["start c1"])
    for name in ["a2", "b1", "b2", "c1"] { scene.receive(name) }
    for name in ["a2", "b1"] { scene.end(name) }
    #expect(scene.news() == [], "two run, and both receive bytes")
    scene.end("b2")
    #expect(scene.news() == ["start c2"])
  }

  @Test func `a host that stalled under higher limits delays no other under lower ones`() {
    var scene = SchedulerScene(TransferLimits(total: 8, perHost: 8, besideUrgent: 4))
    for number in 1...8 { scene.enter("a\(number)", .visible, host: "a") }
    scene.pass(.seconds(1))
    scene.set(Self.slow)
    _ = scene.news()
    for name in ["b1", "b2", "b3"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.news() == ["start b1", "start b2"])
  }

  @Test func `a transfer that restarts in its slot can stall again`() {
    var scene = SchedulerScene(Self.slow)
    scene.enter("v", .visible, host: "a")
    scene.receive("v")
    scene.enter("n", .near, host: "b")
    scene.pass(.seconds(5))
    #expect(scene.news() == ["start v"], "the arriving bodies fill the link")
    scene.stopped("v")
    scene.pass(.milliseconds(999))
    #expect(scene.news() == [])
    scene.pass(.milliseconds(1))
    #expect(scene.news() == ["start n"])
  }

  @Test func `a body without new bytes stalls within four seconds, until it continues`() {
    var scene = SchedulerScene(Self.slow)
    for name in ["a1", "a2"] {
      scene.enter(name, .visible, host: "a")
      scene.receive(name)
    }
    scene.enter("n", .near, host: "b")
    scene.pass(.seconds(5))
    #expect(scene.news() == ["start a1", "start a2"], "both receive")
    scene.silence("a1")
    scene.silence("a2")
    scene.pass(.seconds(1.5))
    #expect(scene.news() == [])
    scene.pass(.seconds(2.5))
    #expect(scene.news() == ["start n"])
    scene.receive("a1")
    #expect(scene.news() == ["preempt n"])
  }

  /// A visible download that receives this many bytes a second, beside a near one of another host.
  @Test(arguments: [(500, true), (1 << 10, false)])
  func `a body with less than a kibibyte in two seconds is stalled`(bytes: Int, isStalled: Bool) {
    var scene = SchedulerScene(Self.slow)
    scene.enter("v", .visible, host: "a")
    scene.enter("n", .near, host: "b")
    for _ in 0..<9 {
      scene.receive("v", bytes: bytes)
      scene.pass(.seconds(1))
    }
    #expect(scene.news() == (isStalled ? ["start v", "start n"] : ["start v"]), "and it stays stalled")
  }

  @Test func `a stalled download is preempted only if a visible one can start for it`() {
    var scene = SchedulerScene(TransferLimits(total: 2, perHost: 2, besideUrgent: 2))
    for name in ["p1", "p2"] { scene.enter(name, .prefetch, host: "a") }
    scene.pass(.seconds(1))
    for name in ["v1", "v2"] { scene.enter(name, .visible, host: "b") }
    _ = scene.news()
    scene.enter("v3", .visible, host: "c")
    #expect(scene.news() == [])
    // Two more of the four stalled downloads would become visible.
    scene.pass(.seconds(1))
    #expect(scene.news() == ["preempt p2", "start v3"])
  }

  // MARK: Beside urgent downloads

  @Test func `a near download starts beside a visible one of another host that does not respond`() {
    var scene = SchedulerScene(Self.slow)
    scene.enter("v", .visible, host: "a")
    scene.enter("own", .near, host: "a")
    scene.enter("n", .near, host: "b")
    #expect(scene.state.deadline == .seconds(1))
    #expect(scene.news() == ["start v"])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start n"], "the stalled host delays its own downloads")
    // Now the visible download needs the link.
    scene.receive("v")
    #expect(scene.news() == ["preempt n"])
    scene.stopped("n")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(Set(scene.news()) == ["start own", "start n"])
  }

  @Test func `a visible download that stalls gives back the slot of a prefetch`() {
    var scene = SchedulerScene(Self.slow)
    scene.enter("p", .prefetch, host: "b")
    scene.receive("p")
    scene.enter("v", .visible, host: "a")
    scene.stopped("p")
    #expect(scene.news() == ["start p", "start v", "preempt p"])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start p"])
    scene.enter("w", .visible, host: "b")
    #expect(scene.news() == ["start w", "preempt p"], "it is not stalled yet")
  }

  @Test func `a visible download that waits for a stalled host delays no other host`() {
    var scene = SchedulerScene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    scene.enter("n", .near, host: "b")
    _ = scene.news()
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start n"])
  }

  @Test func `a stalled download leaves its slot beside a visible one to others`() {
    var scene = SchedulerScene(TransferLimits(total: 4, perHost: 4, besideUrgent: 1))
    scene.enter("stalled", .near, host: "a")
    scene.pass(.seconds(1))
    scene.enter("v", .visible, host: "b")
    scene.receive("v")
    for (name, host) in [("own", "a"), ("n", "c"), ("m", "c")] { scene.enter(name, .near, host: host) }
    #expect(scene.news() == ["start stalled", "start v", "start n"])
    scene.receive("stalled")
    #expect(scene.news() == ["preempt n"], "one is too many, and it started last")
  }

  // MARK: Rate

  @Test func `the downloads of a host start at intervals, and other hosts do not wait`() {
    var scene = SchedulerScene(TransferLimits(total: 8, perHost: 8, besideUrgent: 8), interval: .seconds(1))
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    scene.enter("b1", .visible, host: "b")
    #expect(scene.news() == ["start a1", "start b1"])
    scene.end("a1")
    #expect(scene.news() == [])
    #expect(scene.state.deadline == .seconds(1))
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start a2"])
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start a3"])
  }
}

import FeedimgModel
import Testing

@testable import Feedimg

/// What transfers of a host that sends slowly leave to others.
@Suite struct SlowHostTests {
  private static let slow = TransferLimits(total: 2, perHost: 2, besideUrgent: 0)

  /// The queue when it is told that a host is slow, with what one answered image of it leaves to another.
  private static let wishes: [(host: String, priority: LoadPriority, slowHosts: Set<String>, begins: Bool)] =
    [
      ("b", .near, [], false), ("b", .near, ["a"], true), ("b", .prefetch, ["a"], true),
      ("a", .near, ["a"], false), ("b", .near, ["b"], false), ("b", .near, ["a", "b"], false),
    ]

  @Test(arguments: wishes.indices)
  func `beside something visible of a host that may be slow, others begin`(index: Int) {
    let wish = Self.wishes[index]
    var scene = QueueScene(Self.slow)
    scene.enter("v", .visible, host: "a")
    scene.answer("v")
    scene.enter("wish", wish.priority, host: wish.host)
    #expect(scene.news() == ["start v"])
    scene.set(slowHosts: wish.slowHosts)
    #expect(scene.news() == (wish.begins ? ["start wish"] : []))
  }

  @Test
  func `what is visible finds a place though a slow host has them all, and not one more than again as many`()
  {
    var scene = QueueScene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    for name in ["b1", "b2", "b3"] { scene.enter(name, .visible, host: "b") }
    for name in ["a1", "a2"] { scene.answer(name) }
    #expect(scene.news() == ["start a1", "start a2"])
    scene.set(slowHosts: ["a"])
    #expect(scene.news() == ["start b1", "start b2"])
    scene.set(slowHosts: ["a", "b"])
    scene.enter("c", .visible, host: "c")
    #expect(scene.news() == [], "of three hosts as well")
    scene.end("b1")
    #expect(scene.news() == ["start c"])
  }

  @Test
  func `on a slow link of one host all prefetching stops for what is visible, as it does not know better`() {
    var scene = QueueScene(Self.slow)
    scene.set(slowHosts: ["a"])
    for name in ["p1", "p2", "p3"] { scene.enter(name, .prefetch, host: "a") }
    for name in ["p1", "p2"] { scene.answer(name) }
    scene.enter("v", .visible, host: "a")
    #expect(scene.news() == ["start p1", "start p2", "stop p2", "start v", "stop p1"])
    for name in ["p1", "p2"] { scene.stopped(name) }
    #expect(scene.news() == [])
  }

  @Test func `what was let in gives way again once the link is known to be slow`() {
    var scene = QueueScene(Self.slow)
    scene.set(slowHosts: ["a"])
    scene.enter("v", .visible, host: "a")
    scene.enter("n", .near, host: "b")
    for name in ["v", "n"] { scene.answer(name) }
    #expect(scene.news() == ["start v", "start n"])
    scene.set(slowHosts: [])
    #expect(scene.news() == ["stop n"])
    scene.stopped("n")
    #expect(scene.news() == [])
    scene.end("v")
    #expect(scene.news() == ["start n"])
  }

  // MARK: Telling slow servers from slow links

  private struct Paces {
    /// What host `a` brings alone, then what it brings together with `b`, in kbit/s, for so many seconds each.
    let rates: [(hosts: Set<String>, rate: Double, seconds: Double)]
    var slowHosts: Set<String> = []
    var isCertain = false
    let why: String
  }

  private static let paces = [
    Paces(rates: [(["a"], 160, 1.75)], why: "too short to tell"),
    Paces(rates: [(["a"], 160, 2)], slowHosts: ["a"], why: "it may be the link"),
    Paces(rates: [(["a", "b"], 160, 2)], slowHosts: ["a", "b"], why: "likewise"),
    Paces(rates: [(["a"], 5000, 9)], why: "not slow"),
    Paces(
      rates: [(["a"], 160, 2), (["a", "b"], 8000, 0.25)],
      slowHosts: ["a"],
      why: "one sample is too few"
    ),
    Paces(
      rates: [(["a"], 160, 0.5), (["a", "b"], 8000, 0.5)],
      slowHosts: ["a"],
      isCertain: true,
      why: "the link brings more"
    ),
    Paces(rates: [(["a"], 160, 2), (["a", "b"], 170, 0.5)], why: "it brings no more"),
    Paces(rates: [(["a"], 2000, 2), (["a", "b"], 2500, 2)], why: "little more"),
    Paces(
      rates: [(["a"], 2000, 2), (["a", "b"], 3500, 2)],
      slowHosts: ["a"],
      isCertain: true,
      why: "more by half"
    ),
    Paces(rates: [(["a"], 2000, 2), (["a", "b"], 800, 2)], why: "the link has become worse"),
    Paces(
      rates: [(["a", "b"], 8000, 1), (["a"], 160, 0.5)],
      slowHosts: ["a"],
      isCertain: true,
      why: "both brought more before"
    ),
    Paces(
      rates: [(["a"], 160, 2), (["a", "b"], 8000, 0.5), (["a"], 160, 29)],
      slowHosts: ["a"],
      isCertain: true,
      why: "nothing speaks against what was found"
    ),
    Paces(
      rates: [(["a"], 2000, 2), (["a", "b"], 8000, 0.5), (["a"], 2000, 15), (["a"], 100, 10)],
      slowHosts: ["a"],
      why: "slower than when it was found: it may be the link"
    ),
    Paces(
      rates: [(["a"], 2000, 2), (["a", "b"], 2000, 1), (["a"], 2000, 9.5)],
      why: "it was seen to fill the link"
    ),
    Paces(
      rates: [(["a"], 2000, 2), (["a", "b"], 2000, 1), (["a"], 2000, 10.5)],
      slowHosts: ["a"],
      why: "others are tried anew after ten seconds"
    ),
    Paces(rates: [(["a"], 160, 2), (["b"], 9000, 0.5)], why: "it does not send any more"),
  ]

  @Test(arguments: paces.indices)
  func `whether more comes with others tells whether hosts fill the link`(index: Int) {
    let row = Self.paces[index]
    var paces = HostPaces()
    var now = Duration.zero
    for (hosts, rate, seconds) in row.rates {
      for _ in 0..<Int(seconds * 4) {
        now += .milliseconds(250)
        paces.note(TrafficWindow.Pace(hosts: hosts, bytes: Int(rate * 31.25), seconds: 0.25), at: now)
      }
    }
    #expect(paces.slowHosts == row.slowHosts, "\(row.why)")
    #expect(paces.certainlySlowHosts == (row.isCertain ? row.slowHosts : []), "\(row.why)")
  }

  @Test func `what hosts send alone and together is told apart`() {
    var window = TrafficWindow()
    window.begin(at: .zero)
    window.answered(by: "a", at: .zero)
    _ = window.receive(3000, at: .milliseconds(200))
    #expect(window.takePace() == nil)
    _ = window.receive(3000, at: .milliseconds(400))
    #expect(window.takePace() == TrafficWindow.Pace(hosts: ["a"], bytes: 6000, seconds: 0.4))
    #expect(window.takePace() == nil)
    window.compared = ["a"]
    window.begin(at: .milliseconds(500))
    window.answered(by: "b", at: .milliseconds(500))
    _ = window.receive(70_000, at: .milliseconds(600))
    #expect(window.takePace() == TrafficWindow.Pace(hosts: ["a", "b"], bytes: 70_000, seconds: 0.1))
    window.end("b", wasAnswered: true, at: .milliseconds(600))
    _ = window.receive(1, at: .milliseconds(1499))
    #expect(window.takePace() == nil)
    _ = window.receive(1, at: .milliseconds(1500))
    #expect(
      window.takePace() == TrafficWindow.Pace(hosts: ["a"], bytes: 2, seconds: 1),
      "what brings next to nothing is slow after a second"
    )
  }

  @Test func `what a slow host sends alone is no sample of the link`() {
    var window = TrafficWindow()
    window.slowHosts = ["a"]
    for host in ["a", "b"] {
      window.begin(at: .zero)
      window.answered(by: host, at: .zero)
    }
    #expect(window.receive(60_000, at: .milliseconds(100)) == nil)
    window.end("b", wasAnswered: true, at: .milliseconds(100))
    #expect(window.receive(100_000, at: .seconds(5)) == nil)
    window.begin(at: .seconds(5))
    window.answered(by: "b", at: .seconds(5))
    #expect(
      window.receive(40_000, at: .milliseconds(5100))
        == TrafficWindow.Sample(bytes: 100_000, seconds: 0.2, idleShare: 0)
    )
  }
}

import FeedimgModel
import Testing

@testable import Feedimg

@Suite struct LoadQueueTests {
  private static let wide = TransferLimits(total: 8, perHost: 8, besideUrgent: 4)
  private static let slow = TransferLimits(total: 2, perHost: 2, besideUrgent: 0)
  private static let single = TransferLimits(total: 1, perHost: 1, besideUrgent: 1)

  /// A queue with the names that a test gives to its loads.
  private struct Scene {
    var queue: LoadQueue
    var now = Duration.zero
    var tickets: [String: LoadQueue.Ticket] = [:]
    /// What happened, such as `start a`.
    var told: [String] = []

    init(_ limits: TransferLimits) { queue = LoadQueue(limits: limits) }

    mutating func enter(_ name: String, _ priority: LoadPriority, host: String = "h") {
      let (ticket, steps) = queue.enter(host: host, priority: priority, at: now)
      tickets[name] = ticket
      tell(steps)
    }

    mutating func end(_ name: String) { if let ticket = tickets[name] { tell(queue.leave(ticket, at: now)) } }

    mutating func stopped(_ name: String) {
      if let ticket = tickets[name] { tell(queue.stopped(ticket, at: now)) }
    }

    mutating func set(_ name: String, _ priority: LoadPriority) {
      if let ticket = tickets[name] { tell(queue.setPriority(ticket, priority, at: now)) }
    }

    mutating func answer(_ name: String) { if let ticket = tickets[name] { queue.answered(ticket) } }

    mutating func keepGoing(_ name: String) {
      if let ticket = tickets[name] { queue.setStoppable(ticket, false) }
    }

    mutating func pass(_ time: Duration) {
      now += time
      tell(queue.tick(at: now))
    }

    mutating func tell(_ steps: [LoadQueue.Step]) {
      for step in steps {
        switch step {
        case .start(let ticket): told.append("start \(name(ticket))")
        case .stop(let ticket): told.append("stop \(name(ticket))")
        }
      }
    }

    private func name(_ ticket: LoadQueue.Ticket) -> String {
      tickets.first { $0.value == ticket }?.key ?? "a stranger"
    }

    /// What happened since the last look.
    mutating func news() -> [String] {
      defer { told = [] }
      return told
    }
  }

  @Test func `visible goes before near and near before prefetch, each in the order of asking`() {
    var scene = Scene(Self.single)
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
    var scene = Scene(TransferLimits(total: 3, perHost: 2, besideUrgent: 3))
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    #expect(scene.news().count == 2)
    for name in ["b1", "b2"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.news().count == 1)
    scene.end("a1")
    #expect(scene.news() == ["start a3"], "its host began something longest ago")
  }

  /// Behaviour 9.
  @Test func `beyond the limits a load waits, and those that are cancelled take no place`() {
    var scene = Scene(TransferLimits(total: 25, perHost: 25, besideUrgent: 25))
    for number in 1...30 { scene.enter("\(number)", .near) }
    #expect(scene.news() == (1...25).map { "start \($0)" })
    for number in 26...28 { scene.end("\(number)") }
    #expect(scene.news() == [])
    scene.end("1")
    scene.end("2")
    #expect(scene.news() == ["start 29", "start 30"])
  }

  @Test func `hosts take turns, however long the line of one`() {
    var scene = Scene(Self.single)
    for number in 1...4 { scene.enter("a\(number)", .visible, host: "a") }
    for number in 1...2 { scene.enter("b\(number)", .visible, host: "b") }
    scene.enter("c1", .visible, host: "c")
    _ = scene.news()
    for name in ["a1", "b1", "c1", "a2", "b2", "a3"] { scene.end(name) }
    #expect(scene.news() == ["b1", "c1", "a2", "b2", "a3", "a4"].map { "start \($0)" })
  }

  @Test func `a host that asks again and again does not hold up one that waits`() {
    var scene = Scene(Self.single)
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
    var scene = Scene(Self.single)
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
    var scene = Scene(TransferLimits(total: 2, perHost: 2, besideUrgent: 1))
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
    var scene = Scene(Self.slow)
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
    var scene = Scene(TransferLimits(total: 8, perHost: 8, besideUrgent: 2))
    scene.enter("v", .visible)
    for name in ["n1", "n2"] { scene.enter(name, .near) }
    scene.enter("p", .prefetch)
    #expect(scene.news() == ["start v", "start n1", "start n2"])
  }

  @Test func `what cannot be gone on with is not stopped`() {
    var scene = Scene(Self.single)
    scene.enter("p", .prefetch)
    scene.keepGoing("p")
    scene.enter("v", .visible)
    scene.end("p")
    #expect(scene.news() == ["start p", "start v"])
  }

  @Test func `something visible of a host that is full takes no place of another host`() {
    var scene = Scene(TransferLimits(total: 4, perHost: 1, besideUrgent: 4))
    scene.enter("v1", .visible, host: "a")
    scene.enter("p1", .prefetch, host: "b")
    _ = scene.news()
    scene.enter("v2", .visible, host: "a")
    #expect(scene.news() == [])
    scene.enter("v3", .visible, host: "b")
    #expect(scene.news() == ["stop p1", "start v3"])
  }

  @Test func `a prefetch beside a visible image that takes for ever gets a place after ten seconds`() {
    var scene = Scene(Self.slow)
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

  @Test func `more places are used as soon as they are allowed`() {
    var scene = Scene(Self.single)
    for name in ["a", "b", "c"] { scene.enter(name, .near) }
    _ = scene.news()
    scene.tell(scene.queue.setLimits(TransferLimits(total: 2, perHost: 2, besideUrgent: 2), at: scene.now))
    #expect(scene.news() == ["start b"])
  }

  // MARK: Late answers

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
    var scene = Scene(TransferLimits(total: total, perHost: total, besideUrgent: 0))
    for number in 0..<total { scene.enter("\(number)", .visible, host: "a") }
    for number in 0..<min(total, wish.answered) { scene.answer("\(number)") }
    scene.pass(.milliseconds(wish.milliseconds))
    _ = scene.news()
    scene.enter("wish", .visible, host: wish.host)
    #expect(scene.news() == (wish.begins ? ["start wish"] : []), "\(wish.why)")
  }

  @Test func `who waits for a place beside a late host is told when there is one`() {
    var scene = Scene(Self.slow)
    for name in ["a1", "a2", "a3"] { scene.enter(name, .visible, host: "a") }
    #expect(scene.queue.deadline == nil, "nobody waits for another host")
    for name in ["b1", "b2", "b3"] { scene.enter(name, .visible, host: "b") }
    #expect(scene.queue.deadline == .seconds(1))
    _ = scene.news()
    scene.pass(.seconds(1))
    #expect(scene.news() == ["start b1", "start b2"])
  }

  @Test func `places beside late hosts are as many again at most, and given back when answers come`() {
    var scene = Scene(Self.slow)
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

  @Test func `nothing is stopped where its place would help nobody`() {
    var scene = Scene(TransferLimits(total: 2, perHost: 2, besideUrgent: 2))
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

  @Test func `telling twice that a load has left or was stopped does nothing`() {
    var scene = Scene(Self.single)
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

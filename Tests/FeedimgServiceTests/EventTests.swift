import Testing

@testable import FeedimgService

/// The events that readers receive.
@Suite struct EventTests {
  private static func log(_ states: [(String, String)], capacity: Int = 256) -> EventLog {
    var log = EventLog(run: "r", capacity: capacity)
    for (kind, data) in states { _ = log.append(kind, data) }
    return log
  }

  private static let states = [("network", "1"), ("settings", "1"), ("network", "2"), ("policy", "1")]

  @Test(
    arguments: [
      (nil, ["settings 1", "network 2", "policy 1"], "a new reader receives the current states"),
      ("r-4", [], "an up-to-date reader receives nothing"),
      ("r-3", ["policy 1"], "a reader that was away receives the missed states"),
      ("r-2", ["network 2", "policy 1"], "in the order in which they came"),
      ("r-0", ["settings 1", "network 2", "policy 1"], "and only the latest one of each kind"),
      ("r-5", ["settings 1", "network 2", "policy 1"], "a number that never existed is unknown"),
      ("r--1", ["settings 1", "network 2", "policy 1"], "so is a number before the first"),
      ("r-x", ["settings 1", "network 2", "policy 1"], "so is text that is not a number"),
      ("s-3", ["settings 1", "network 2", "policy 1"], "so is a number from another run of the service"),
      ("", ["settings 1", "network 2", "policy 1"], "so is an empty one"),
    ] as [(String?, [String], String)]
  )
  func `a returning reader receives the events that it missed`(
    _ id: String?,
    _ told: [String],
    _ reason: String
  ) {
    let missed = Self.log(Self.states).missed(since: id)
    #expect(missed.map { "\($0.kind) \($0.data)" } == told, "\(reason)")
  }

  @Test func `a reader that was away for too long receives the current states`() {
    var log = Self.log([("network", "1")], capacity: 3)
    for number in 2...4 { _ = log.append("upgrade", "\(number)", isState: false) }
    #expect(log.missed(since: "r-1").map(\.id) == ["r-1"], "the first upgrade is lost")
    #expect(log.missed(since: "r-2").map(\.id) == ["r-3", "r-4"])
  }

  @Test func `an unchanged state is not sent again`() {
    var log = Self.log([("network", "1")])
    #expect(log.append("network", "1") == nil)
    #expect(log.append("network", "2")?.text == "id: r-2\nevent: network\ndata: 2\n\n")
  }

  @Test func `an occurrence is sent each time to present readers, and to no new reader`() {
    var log = Self.log([("network", "1")])
    for _ in 1...2 { #expect(log.append("upgrade", "same", isState: false) != nil) }
    #expect(log.missed(since: "r-1").map(\.id) == ["r-2", "r-3"])
    #expect(log.missed(since: nil).map(\.id) == ["r-1"])
  }

  @Test func `a slow reader is dropped, and the others are not`() async {
    let hub = EventHub(EventLog(run: "r"), capacity: 3)
    let (slow, quick) = (hub.subscribe(after: nil), hub.subscribe(after: nil))
    var texts = quick.makeAsyncIterator()
    _ = await texts.next()
    for number in 1...5 {
      hub.publish("network", String(number))
      #expect(await texts.next()?.contains("data: \(number)\n") == true)
    }
    #expect(hub.readerCount == 1)
    // It receives the queued events, and then the end.
    var count = 0
    for await _ in slow { count += 1 }
    #expect(count == 3)
  }

  @Test func `all readers end when the service ends`() async {
    let hub = EventHub(EventLog(run: "r"))
    let reader = hub.subscribe(after: nil)
    hub.end()
    let late = hub.subscribe(after: nil)
    for await _ in reader {}
    for await _ in late {}
    #expect(hub.readerCount == 0)
  }

  @Test func `a reader that leaves is forgotten`() async {
    let hub = EventHub(EventLog(run: "r"))
    let reader = hub.subscribe(after: nil)
    let task = Task { for await _ in reader {} }
    task.cancel()
    await task.value
    #expect(hub.readerCount == 0)
  }
}

import FeedimgModel
import Synchronization
import TestSystem
import Testing

@testable import FeedimgReachability

struct SnapshotCacheTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    /// The number of the reading since which events were received; the cached reading has 2.
    var eventsSince = 1
    var peer: String?
    var services = NetworkServices.none
    var age = Duration.zero
    var isForgotten = false
    var isKnown = false
    var testDescription: String { name }
  }

  @Test(arguments: [
    Row(name: "no event since", isKnown: true),
    Row(name: "listening began with that reading", eventsSince: 2, isKnown: true),
    Row(name: "listening began after it", eventsSince: 3),
    Row(name: "another host has answered since", peer: "192.0.2.9"),
    Row(name: "services are asked from now on", services: NetworkServices(system: .system)),
    Row(name: "it is recent", age: SnapshotCache.longestLifetime - .milliseconds(1), isKnown: true),
    Row(name: "it is old", age: SnapshotCache.longestLifetime),
    Row(name: "an event arrived", isForgotten: true),
  ])
  func `a snapshot is valid until an event or its expiry`(_ row: Row) {
    var cache = SnapshotCache()
    let start = ContinuousClock.now
    _ = cache.begin()
    cache.keep(.init(state: .offline("seen")), cache.begin(), .init(services: .none), at: start)
    if row.isForgotten { cache.forget() }
    let inputs = SnapshotCache.Inputs(services: row.services, peer: row.peer)
    let snapshot = cache.snapshot(inputs, eventsSince: row.eventsSince, at: start + row.age)
    #expect(snapshot?.state == (row.isKnown ? .offline("seen") : nil))
  }

  @Test func `an earlier reading that ends late does not replace a later one`() {
    var cache = SnapshotCache()
    let (inputs, now) = (SnapshotCache.Inputs(services: .none), ContinuousClock.now)
    let (early, late) = (cache.begin(), cache.begin())
    cache.keep(.init(state: .offline("late")), late, inputs, at: now)
    cache.keep(.init(state: .offline("early")), early, inputs, at: now)
    #expect(cache.snapshot(inputs, eventsSince: 1, at: now)?.state == .offline("late"))
  }

  @Test func `a reading during which an event arrived is not kept`() {
    var cache = SnapshotCache()
    let (inputs, now) = (SnapshotCache.Inputs(services: .none), ContinuousClock.now)
    let early = cache.begin()
    cache.forget()
    cache.keep(.init(state: .offline("early")), early, inputs, at: now)
    #expect(cache.snapshot(inputs, eventsSince: 1, at: now) == nil)
    cache.keep(.init(state: .offline("late")), cache.begin(), inputs, at: now)
    #expect(cache.snapshot(inputs, eventsSince: 1, at: now)?.state == .offline("late"))
  }

  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `frequent readings see each change at once`() throws {
    let namespace = try Namespace()
    namespace.ip(LivePathTests.cables)
    let metered = Mutex<Metered?>(nil)
    let peer = Mutex("203.0.113.1")
    let reader = NetlinkReader(peer: { peer.withLock { $0 } }, mark: { _ in metered.withLock { $0 } })
    let steps: [(change: () -> Void, kind: NetworkKind, via: [String], metered: Metered?)] = [
      ({}, .offline, [], nil),
      ({ namespace.ip("route add default via 192.0.2.1 dev left") }, .ethernet, ["left"], nil),
      ({ metered.withLock { $0 = .yes } }, .ethernet, ["left"], .yes),
      ({ namespace.ip("route replace default via 198.51.100.1 dev right") }, .ethernet, ["right"], .yes),
      // A specific route, whose changes wake no monitor.
      ({ peer.withLock { $0 = "203.0.113.7" } }, .ethernet, ["right"], .yes),
      ({ namespace.ip("route add 203.0.113.7/32 via 192.0.2.1 dev left") }, .ethernet, ["left"], .yes),
      ({ namespace.ip("link del left\nlink del right") }, .offline, [], nil),
    ]
    for (number, step) in steps.enumerated() {
      step.change()
      for _ in 0..<(2 * SnapshotCache.readingsBeforeEvents) {
        let state = namespace.run { reader.currentState() }
        #expect(state.kind == step.kind && state.via == step.via, "step \(number)")
        if let word = step.metered { #expect(state.metered == word, "step \(number)") }
      }
    }
  }
}

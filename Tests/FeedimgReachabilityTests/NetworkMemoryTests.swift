import FeedimgModel
import Synchronization
import TestSystem
import Testing

@testable import FeedimgReachability

struct NetworkMemoryTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    /// The number of the look since which every change was heard of; the one that is known has 2.
    var heardSince = 1
    var peer: String?
    var services = NetworkServices.none
    var age = Duration.zero
    var isForgotten = false
    var isKnown = false
    var testDescription: String { name }
  }

  @Test(arguments: [
    Row(name: "nothing was heard since", isKnown: true),
    Row(name: "listening began with that look", heardSince: 2, isKnown: true),
    Row(name: "listening began after it", heardSince: 3),
    Row(name: "another host has answered since", peer: "192.0.2.9"),
    Row(name: "services are to be asked now", services: NetworkServices(system: .system)),
    Row(name: "it is young", age: NetworkMemory.longestTrust - .milliseconds(1), isKnown: true),
    Row(name: "it is old", age: NetworkMemory.longestTrust),
    Row(name: "something was heard", isForgotten: true),
  ])
  func `what was seen is trusted as long as nothing speaks against it`(_ row: Row) {
    var memory = NetworkMemory()
    let start = ContinuousClock.now
    _ = memory.begin()
    memory.keep(.init(state: .offline("seen")), memory.begin(), .init(services: .none), at: start)
    if row.isForgotten { memory.forget() }
    let question = NetworkMemory.Question(services: row.services, peer: row.peer)
    let sight = memory.sight(question, heardSince: row.heardSince, at: start + row.age)
    #expect(sight?.state == (row.isKnown ? .offline("seen") : nil))
  }

  @Test func `a look that ends late does not hide what a later one saw`() {
    var memory = NetworkMemory()
    let (question, now) = (NetworkMemory.Question(services: .none), ContinuousClock.now)
    let (early, late) = (memory.begin(), memory.begin())
    memory.keep(.init(state: .offline("late")), late, question, at: now)
    memory.keep(.init(state: .offline("early")), early, question, at: now)
    #expect(memory.sight(question, heardSince: 1, at: now)?.state == .offline("late"))
  }

  @Test func `a look that went on as something was heard is not trusted`() {
    var memory = NetworkMemory()
    let (question, now) = (NetworkMemory.Question(services: .none), ContinuousClock.now)
    let early = memory.begin()
    memory.forget()
    memory.keep(.init(state: .offline("early")), early, question, at: now)
    #expect(memory.sight(question, heardSince: 1, at: now) == nil)
    memory.keep(.init(state: .offline("late")), memory.begin(), question, at: now)
    #expect(memory.sight(question, heardSince: 1, at: now)?.state == .offline("late"))
  }

  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `who looks often sees each change at once`() throws {
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
      // A narrow route, which those who wait for events are not woken for.
      ({ peer.withLock { $0 = "203.0.113.7" } }, .ethernet, ["right"], .yes),
      ({ namespace.ip("route add 203.0.113.7/32 via 192.0.2.1 dev left") }, .ethernet, ["left"], .yes),
      ({ namespace.ip("link del left\nlink del right") }, .offline, [], nil),
    ]
    for (number, step) in steps.enumerated() {
      step.change()
      for _ in 0..<(2 * NetworkMemory.looksBeforeListening) {
        let state = namespace.run { reader.currentState() }
        #expect(state.kind == step.kind && state.via == step.via, "step \(number)")
        if let word = step.metered { #expect(state.metered == word, "step \(number)") }
      }
    }
  }
}

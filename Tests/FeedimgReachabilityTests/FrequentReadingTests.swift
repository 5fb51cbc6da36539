import FeedimgModel
import Synchronization
import TestSystem
import Testing

@testable import FeedimgReachability

struct FrequentReadingTests {
  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `frequent readings see each change at once`() throws {
    let namespace = try Namespace()
    namespace.ip(LivePathTests.cables)
    let metered = Mutex<Metered?>(nil)
    let peer = Mutex("9.9.9.9")
    let reader = NetlinkReader(peer: { peer.withLock { $0 } }, mark: { _ in metered.withLock { $0 } })
    let steps: [(change: () -> Void, kind: NetworkKind, via: [String], metered: Metered?)] = [
      ({}, .offline, [], nil),
      ({ namespace.ip("route add default via 192.0.2.1 dev left") }, .ethernet, ["left"], nil),
      ({ metered.withLock { $0 = .yes } }, .ethernet, ["left"], .yes),
      ({ namespace.ip("route replace default via 198.51.100.1 dev right") }, .ethernet, ["right"], .yes),
      ({ namespace.ip("route add 9.9.9.10/32 via 192.0.2.1 dev left") }, .ethernet, ["right"], .yes),
      ({ peer.withLock { $0 = "9.9.9.10" } }, .ethernet, ["left"], .yes),
      ({ namespace.ip("link del left\nlink del right") }, .offline, [], nil),
    ]
    for (number, step) in steps.enumerated() {
      step.change()
      for _ in 0..<(2 * NetlinkReader.readingsBeforeEvents) {
        let state = namespace.run { reader.currentState() }
        #expect(state.kind == step.kind && state.via == step.via, "step \(number)")
        if let word = step.metered { #expect(state.metered == word, "step \(number)") }
      }
    }
  }
}

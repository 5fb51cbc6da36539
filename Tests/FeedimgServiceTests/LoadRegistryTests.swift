import Feedimg
import FeedimgModel
import Testing

@testable import FeedimgService

@Suite struct LoadRegistryTests {
  private let loads = LoadRegistry()

  @Test func `the named priority applies to one load only`() {
    let (one, other) = (LoadHandle(.prefetch), LoadHandle(.prefetch))
    loads.add("one", one)
    loads.add("other", other)
    loads.set("one", .visible)
    #expect((one.priority, other.priority) == (.visible, .prefetch))
    loads.set("one", .near)
    #expect(one.priority == .near)
  }

  @Test func `a priority that was set before the load began also applies`() {
    loads.set("one", .visible)
    loads.set("other", .visible)
    loads.set("one", .near)
    let (one, again) = (LoadHandle(.prefetch), LoadHandle(.prefetch))
    loads.add("one", one)
    #expect(one.priority == .near)
    // It was set once and applies to one load.
    loads.add("one", again)
    #expect(again.priority == .prefetch)
  }

  @Test func `priorities of loads that never began are not kept forever`() {
    for number in 0..<200 { loads.set("\(number)", .visible) }
    let wishes = (0..<200).map { _ in LoadHandle(.prefetch) }
    for (number, wish) in wishes.enumerated() { loads.add("\(number)", wish) }
    #expect(wishes.map(\.priority).prefix(136).allSatisfy { $0 == .prefetch })
    #expect(wishes.map(\.priority).dropFirst(136).allSatisfy { $0 == .visible })
  }

  @Test func `a finished load has no name`() {
    do {
      let wish = LoadHandle(.prefetch)
      loads.add("one", wish)
      withExtendedLifetime(wish) {}
    }
    loads.set("one", .visible)
    let next = LoadHandle(.prefetch)
    loads.add("one", next)
    #expect(next.priority == .visible)
  }
}

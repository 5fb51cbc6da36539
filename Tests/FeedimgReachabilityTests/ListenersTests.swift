import Testing

@testable import FeedimgReachability

@Suite struct ListenersTests {
  private static func listener() -> Listeners.Listener { Listeners.Listener(report: { _ in }) }

  @Test func `a new listener is notified once of the current state`() {
    var listeners = Listeners()
    _ = listeners.join(Self.listener())
    let told = [listeners.takeNew().count, listeners.takeNew().count]
    #expect(told == [1, 0])
  }

  @Test func `a new listener that received a change needs no other notice`() {
    var listeners = Listeners()
    _ = listeners.join(Self.listener())
    let told = [listeners.takeAll().count, listeners.takeNew().count]
    #expect(told == [1, 0])
  }

  @Test func `a new listener that leaves is not notified`() {
    var listeners = Listeners()
    _ = listeners.join(Self.listener())
    let id = listeners.join(Self.listener()) ?? 0
    _ = listeners.leave(id)
    let told = listeners.takeNew().count
    #expect(told == 1)
  }

  @Test func `after the last listener has left, no listener can join`() {
    var listeners = Listeners()
    let ids = [listeners.join(Self.listener()), listeners.join(Self.listener())]
    #expect(ids == [0, 1])
    // A listener leaves only once.
    let wasLast = [listeners.leave(0), listeners.leave(0), listeners.isOver, listeners.leave(1)]
    #expect(wasLast == [false, false, false, true])
    #expect(listeners.isOver)
    let late = listeners.join(Self.listener())
    #expect(late == nil)
  }
}

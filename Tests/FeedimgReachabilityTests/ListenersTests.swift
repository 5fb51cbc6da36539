import Testing

@testable import FeedimgReachability

@Suite struct ListenersTests {
  private static func listener() -> Listeners.Listener { Listeners.Listener(tell: { _ in }) }

  @Test func `a newcomer is told once how things are`() {
    var listeners = Listeners()
    _ = listeners.join(Self.listener())
    let told = [listeners.takeNewcomers().count, listeners.takeNewcomers().count]
    #expect(told == [1, 0])
  }

  @Test func `a newcomer who hears of a change needs no more telling`() {
    var listeners = Listeners()
    _ = listeners.join(Self.listener())
    let told = [listeners.takeAll().count, listeners.takeNewcomers().count]
    #expect(told == [1, 0])
  }

  @Test func `a newcomer who leaves is told nothing`() {
    var listeners = Listeners()
    _ = listeners.join(Self.listener())
    let id = listeners.join(Self.listener()) ?? 0
    _ = listeners.leave(id)
    let told = listeners.takeNewcomers().count
    #expect(told == 1)
  }

  @Test func `when the last one leaves it is over, and nobody can join`() {
    var listeners = Listeners()
    let ids = [listeners.join(Self.listener()), listeners.join(Self.listener())]
    #expect(ids == [0, 1])
    // One leaves once.
    let wasLast = [listeners.leave(0), listeners.leave(0), listeners.isOver, listeners.leave(1)]
    #expect(wasLast == [false, false, false, true])
    #expect(listeners.isOver)
    let late = listeners.join(Self.listener())
    #expect(late == nil)
  }
}

import Testing

@testable import FeedimgReachability

@Suite struct AudienceTests {
  private static func listener() -> Audience.Listener { Audience.Listener(tell: { _ in }) }

  @Test func `a newcomer is told once how things are`() {
    var audience = Audience()
    _ = audience.join(Self.listener())
    let told = [audience.thoseNotYetTold().count, audience.thoseNotYetTold().count]
    #expect(told == [1, 0])
  }

  @Test func `a newcomer who hears of a change needs no more telling`() {
    var audience = Audience()
    _ = audience.join(Self.listener())
    let told = [audience.everybody().count, audience.thoseNotYetTold().count]
    #expect(told == [1, 0])
  }

  @Test func `a newcomer who leaves is told nothing`() {
    var audience = Audience()
    _ = audience.join(Self.listener())
    let seat = audience.join(Self.listener()) ?? 0
    _ = audience.leave(seat)
    let told = audience.thoseNotYetTold().count
    #expect(told == 1)
  }

  @Test func `when the last one leaves it is over, and nobody can join`() {
    var audience = Audience()
    let seats = [audience.join(Self.listener()), audience.join(Self.listener())]
    #expect(seats == [0, 1])
    // One leaves once.
    let wasLast = [audience.leave(0), audience.leave(0), audience.isOver, audience.leave(1)]
    #expect(wasLast == [false, false, false, true])
    #expect(audience.isOver)
    let late = audience.join(Self.listener())
    #expect(late == nil)
  }
}

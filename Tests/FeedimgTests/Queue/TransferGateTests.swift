import FeedimgModel
import Testing

@testable import Feedimg

@Suite struct TransferGateTests {
  @Test func `a place that is taken away before it is used comes back later`() async {
    let gate = TransferGate(ManualTime().time)
    // Two places as long as nothing is known of the link.
    let prefetches = (0..<2).map { _ in gate.enter(host: "h", .prefetch) }
    let visible = (0..<2).map { _ in gate.enter(host: "h", .visible) }
    for ticket in visible { #expect(await gate.place(ticket) {}) }
    for ticket in visible { gate.leave(ticket) }
    for ticket in prefetches { #expect(await gate.place(ticket) {}) }
    for ticket in prefetches { gate.leave(ticket) }
  }

  @Test func `a load that is cancelled while it waits has no place`() async {
    let gate = TransferGate(ManualTime().time)
    let running = (0..<2).map { _ in gate.enter(host: "h", .visible) }
    let waiting = gate.enter(host: "h", .visible)
    let wait = Task { await gate.place(waiting) {} }
    wait.cancel()
    #expect(await wait.value == false)
    gate.leave(waiting)
    for ticket in running { gate.leave(ticket) }
  }

  @Test func `what begins when packets go another way already does not leave it`() async {
    let gate = TransferGate(ManualTime().time)
    let moved = Gathered<String>()
    let (old, new) = (gate.enter(host: "h", .visible), gate.enter(host: "h", .visible))
    #expect(await gate.place(old, move: { moved.add("old") }, stop: {}))
    let leave = gate.leavingPath()
    #expect(await gate.place(new, move: { moved.add("new") }, stop: {}))
    leave()
    #expect(moved.all == ["old"])
    for ticket in [old, new] { gate.leave(ticket) }
  }

  @Test func `what only waits when packets go another way does not leave the new one`() async {
    let gate = TransferGate(ManualTime().time)
    let moved = Gathered<String>()
    let running = (0..<2).map { _ in gate.enter(host: "h", .visible) }
    for ticket in running { #expect(await gate.place(ticket, move: { moved.add("old") }, stop: {})) }
    let waiting = gate.enter(host: "h", .visible)
    let wait = Task.immediate { await gate.place(waiting, move: { moved.add("new") }, stop: {}) }
    let leave = gate.leavingPath()
    // More places are there.
    gate.enter(network: .ethernet)
    #expect(await wait.value)
    leave()
    #expect(moved.all == ["old", "old"])
    for ticket in running + [waiting] { gate.leave(ticket) }
  }

  @Test(arguments: [(0, 8, "the link is busy"), (900, 32, "most of the time nothing comes")])
  func `waiting for servers tells how many more may transfer`(
    _ milliseconds: Int,
    _ total: Int,
    _ reason: String
  ) {
    let time = ManualTime()
    let gate = TransferGate(time.time, network: .ethernet)
    let ticket = gate.enter(host: "h", .visible)
    for _ in 0..<20 {
      gate.transferBegan()
      time.pass(.milliseconds(milliseconds))
      gate.transferAnswered(by: "h")
      time.pass(.milliseconds(100))
      gate.transferBrought(1_000_000, by: ticket)
      gate.transferEnded("h", wasAnswered: true)
    }
    #expect(gate.limits.total == total, "\(reason)")
  }

  @Test func `what came tells how many may transfer`() {
    let time = ManualTime()
    let gate = TransferGate(time.time, network: .wifi)
    let ticket = gate.enter(host: "h", .visible)
    #expect(gate.bandwidth == nil)
    gate.transferBegan()
    gate.transferAnswered(by: "h")
    time.pass(.milliseconds(500))
    gate.transferBrought(125_000, by: ticket)
    gate.transferEnded("h", wasAnswered: true)
    #expect(gate.bandwidth == 2_000_000)
    #expect(gate.limits == TransferLimits(total: 2, perHost: 2, besideUrgent: 0))
    gate.enter(network: .ethernet)
    #expect(gate.bandwidth == nil)
    #expect(gate.limits.total == 4)
  }

  @Test func `what came on another network is no part of the first measurement`() {
    let time = ManualTime()
    let gate = TransferGate(time.time, network: .cellular)
    let ticket = gate.enter(host: "h", .visible)
    gate.transferBegan()
    time.pass(.seconds(5))
    gate.transferAnswered(by: "h")
    gate.transferBrought(4000, by: ticket)
    time.pass(.seconds(5))
    gate.enter(network: .wifi)
    time.pass(.milliseconds(500))
    gate.transferBrought(125_000, by: ticket)
    #expect(gate.bandwidth == 2_000_000)
    #expect(gate.limits == TransferLimits(total: 2, perHost: 2, besideUrgent: 0))
  }
}

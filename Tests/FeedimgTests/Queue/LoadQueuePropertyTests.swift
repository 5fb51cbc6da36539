import FeedimgModel
import Testing

@testable import Feedimg

/// Whatever happens in whatever order, the promises of the queue hold.
@Suite struct LoadQueuePropertyTests {
  private struct Load {
    var host: String
    var priority: LoadPriority
    var state: State
    /// Whether it could not be stopped at some time.
    var wasKept = false
    enum State { case waiting, running, stopping }
  }

  /// A queue beside a plain account of what it has told.
  private struct Account {
    var queue = LoadQueue(limits: TransferLimits(total: 3, perHost: 2, besideUrgent: 1))
    var loads: [LoadQueue.Ticket: Load] = [:]
    /// In the order in which they came: that of a dictionary is another in each run.
    var tickets: [LoadQueue.Ticket] = []
    var now = Duration.zero
    var started = 0
    /// Whether each transfer is answered as soon as it begins, rather than never.
    let isAnswered: Bool

    init(isAnswered: Bool) { self.isAnswered = isAnswered }

    mutating func follow(_ steps: [LoadQueue.Step]) {
      for step in steps {
        switch step {
        case .start(let ticket):
          #expect(loads[ticket]?.state == .waiting, "only what waits begins")
          #expect(!steps.contains(.stop(ticket)), "nothing begins only to be stopped")
          loads[ticket]?.state = .running
          started += 1
          if isAnswered { follow(queue.answered(ticket, at: now)) }
        case .stop(let ticket):
          #expect(loads[ticket]?.state == .running, "only what runs is stopped")
          #expect(loads[ticket]?.priority != .visible, "nothing visible is stopped")
          loads[ticket]?.state = .stopping
        }
      }
    }

    /// Something comes of all that run, where they are answered.
    mutating func bring() {
      guard isAnswered else { return }
      for ticket in tickets where loads[ticket]?.state == .running {
        follow(queue.answered(ticket, at: now))
      }
    }

    /// The first load of those in a state.
    func first(where isMeant: (Load.State) -> Bool) -> LoadQueue.Ticket? {
      tickets.first { loads[$0].map { isMeant($0.state) } ?? false }
    }

    func count(_ isCounted: (Load) -> Bool) -> Int { loads.values.count(where: isCounted) }
  }

  /// Those from 147 on had something begin that was stopped at once for something visible.
  static let seeds = Array(1...40) + [147, 252, 896, 4470, 13312, 14224]

  @Test(arguments: seeds)
  func `limits hold, nothing visible is stopped, and everything begins in the end`(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    var account = Account(isAnswered: !seed.isMultiple(of: 4))
    for _ in 0..<400 {
      account.now += .milliseconds(Int.random(in: 0...200, using: &random))
      account.bring()
      switch Int.random(in: 0..<11, using: &random) {
      case 0..<4:
        let load = Load(
          host: ["a", "b", "c"].randomElement(using: &random) ?? "a",
          priority: LoadPriority.allCases.randomElement(using: &random) ?? .near,
          state: .waiting
        )
        let (ticket, steps) = account.queue.enter(host: load.host, priority: load.priority, at: account.now)
        account.loads[ticket] = load
        account.tickets.append(ticket)
        account.follow(steps)
      case 4..<6:
        guard let ticket = pick(account, using: &random) else { continue }
        account.loads[ticket] = nil
        account.follow(account.queue.leave(ticket, at: account.now))
      case 6:
        guard let ticket = pick(account, using: &random) else { continue }
        let priority = LoadPriority.allCases.randomElement(using: &random) ?? .near
        account.loads[ticket]?.priority = priority
        account.follow(account.queue.setPriority(ticket, priority, at: account.now))
      case 7:
        guard let ticket = pick(account, using: &random) else { continue }
        let isStoppable = Bool.random(using: &random)
        account.queue.setStoppable(ticket, isStoppable)
        if !isStoppable { account.loads[ticket]?.wasKept = true }
        account.follow(account.queue.answered(ticket, at: account.now))
      case 8:
        guard let ticket = account.first(where: { $0 == .stopping }) else { continue }
        account.loads[ticket]?.state = .waiting
        account.follow(account.queue.stopped(ticket, at: account.now))
      case 9 where seed.isMultiple(of: 3):
        var limits = account.queue.limits
        limits.slowHosts = Set(["a", "b", "c"].filter { _ in Bool.random(using: &random) })
        account.follow(account.queue.setLimits(limits, at: account.now))
      default:
        account.follow(account.queue.tick(at: account.now))
      }
      // Two may be beyond the limits, and something visible beside two that cannot be stopped; and as many as these in
      // place of what is not answered, or of slow hosts.
      let granted = account.count { $0.state == .running && $0.wasKept } >= 2 ? 3 : 2
      let isWithinTotal = account.isAnswered && !seed.isMultiple(of: 3)
      #expect(account.count { $0.state == .running } <= (isWithinTotal ? 3 : 6) + granted)
      for host in ["a", "b", "c"] {
        #expect(account.count { $0.state == .running && $0.host == host } <= 2 + granted)
      }
      // Else the clock that it sets would ring without end.
      account.follow(account.queue.tick(at: account.now))
      #expect(account.queue.deadline.map { $0 > account.now } ?? true)
    }
    drain(&account)
  }

  /// Ends what runs until nothing is left: nothing may wait for ever.
  private func drain(_ account: inout Account) {
    var rounds = 0
    while !account.loads.isEmpty, rounds < 5000 {
      rounds += 1
      account.now += .seconds(1)
      account.follow(account.queue.tick(at: account.now))
      guard let ticket = account.first(where: { $0 != .waiting }) else { continue }
      account.loads[ticket] = nil
      account.follow(account.queue.leave(ticket, at: account.now))
    }
    #expect(account.loads.isEmpty)
    #expect(account.queue.isEmpty)
    #expect(account.queue.deadline == nil)
  }

  private func pick(_ account: Account, using random: inout SplitMix) -> LoadQueue.Ticket? {
    account.tickets.filter { account.loads[$0] != nil }.randomElement(using: &random)
  }

  @Test func `a prefetch begins in the end, however many visible images come`() {
    var queue = LoadQueue(limits: TransferLimits(total: 2, perHost: 2, besideUrgent: 0))
    var now = Duration.zero
    var running: [LoadQueue.Ticket] = []
    let (first, steps) = queue.enter(host: "h", priority: .visible, at: now)
    running += steps.map { _ in first }
    let (prefetch, none) = queue.enter(host: "h", priority: .prefetch, at: now)
    #expect(none.isEmpty)
    var hasBegun = false
    for _ in 0..<200 where !hasBegun {
      now += .milliseconds(100)
      let (_, steps) = queue.enter(host: "h", priority: .visible, at: now)
      let ended = running.isEmpty ? [] : queue.leave(running.removeFirst(), at: now)
      for case .start(let ticket) in steps + ended { running.append(ticket) }
      hasBegun = running.contains(prefetch)
    }
    #expect(hasBegun)
    #expect(now <= .seconds(11))
  }
}

/// Random numbers that are the same in every run (Steele, Lea and Flood: SplitMix64).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

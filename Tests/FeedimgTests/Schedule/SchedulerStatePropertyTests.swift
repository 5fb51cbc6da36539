import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Random changes in random order.
///
/// The invariants of ``SchedulerState`` hold after each one.
@Suite struct SchedulerStatePropertyTests {
  fileprivate struct Download {
    var host: String
    var priority: LoadPriority
    var phase = Phase.waiting
    var isResumable = true
    /// Whether a preemption was or would have been refused at some time.
    var wasUnresumable = false
    enum Phase { case waiting, running, stopping }
  }

  /// A scheduler state beside a simple record of its actions.
  fileprivate struct Account {
    var state = SchedulerState(limits: TransferLimits(total: 3, perHost: 2, besideUrgent: 1))
    var downloads: [SchedulerState.Ticket: Download] = [:]
    /// In the order of arrival, since the order of a dictionary differs from run to run.
    var tickets: [SchedulerState.Ticket] = []
    var now = Duration.zero
    /// Whether each transfer receives bytes all the time, or never.
    let isReceiving: Bool
    let changesLimits: Bool

    mutating func advance() {
      let downloads = downloads
      let actions = state.advance(at: now) { downloads[$0]?.isResumable ?? false }
      for action in actions {
        switch action {
        case .start(let ticket):
          #expect(downloads[ticket]?.phase == .waiting, "only a waiting download starts")
          #expect(!actions.contains(.preempt(ticket)), "no download starts only to be stopped")
          self.downloads[ticket]?.phase = .running
          if isReceiving { state.received(ticket, 1 << 16, at: now) }
        case .preempt(let ticket):
          #expect(downloads[ticket]?.phase == .running, "only a running download is preempted")
          #expect(downloads[ticket]?.priority != .visible, "no visible download is preempted")
          #expect(downloads[ticket]?.isResumable == true, "only resumable bytes are given up")
          self.downloads[ticket]?.phase = .stopping
        }
      }
    }

    mutating func enter(_ download: Download) {
      let ticket = state.enter(host: download.host, priority: download.priority)
      downloads[ticket] = download
      tickets.append(ticket)
    }

    mutating func receive() {
      guard isReceiving else { return }
      for ticket in tickets where downloads[ticket]?.phase == .running {
        state.received(ticket, 1 << 16, at: now)
      }
    }

    mutating func leave(_ ticket: SchedulerState.Ticket) {
      downloads[ticket] = nil
      tickets.removeAll { $0 == ticket }
      state.leave(ticket)
    }

    func first(_ isMeant: (Download.Phase) -> Bool) -> SchedulerState.Ticket? {
      tickets.first { downloads[$0].map { isMeant($0.phase) } ?? false }
    }

    func running(where isCounted: (Download) -> Bool = { _ in true }) -> Int {
      downloads.values.count { $0.phase == .running && isCounted($0) }
    }

    /// Two run beyond the limits, or three if two of them can no longer be resumed.
    var extra: Int { running { $0.wasUnresumable } >= 2 ? 3 : 2 }
  }

  private static let invariants: [(name: String, holds: @Sendable (Account) -> Bool)] = [
    (
      "at most twice the limit run, and the extra ones",
      { $0.running() <= 2 * 3 + $0.extra }
    ),
    (
      "the limit holds if all receive bytes, except for the extra ones",
      { !$0.isReceiving || $0.running() <= 3 + $0.extra }
    ),
    (
      "the limit of each host holds, except for the extra ones",
      { account in
        ["a", "b", "c"].allSatisfy { host in account.running { $0.host == host } <= 2 + account.extra }
      }
    ),
    (
      "the state and the record agree on the running downloads",
      { account in
        account.tickets.allSatisfy {
          account.state.isRunning($0) == (account.downloads[$0]?.phase == .running)
        }
      }
    ),
    ("no deadline has passed", { account in account.state.deadline.map { $0 > account.now } ?? true }),
    (
      "no ticket is lost", { account in account.tickets.allSatisfy { account.state.priority(of: $0) != nil } }
    ),
    ("no ticket is left over", { $0.state.isEmpty == $0.downloads.isEmpty }),
  ]

  /// Seeds from 147 on once started a download that was preempted at once.
  static let seeds = Array(1...60) + [147, 252, 896, 4470, 13312, 14224]

  @Test(arguments: seeds)
  func `the invariants hold after each change, and every download starts in the end`(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    var account = Account(isReceiving: !seed.isMultiple(of: 4), changesLimits: seed.isMultiple(of: 3))
    for _ in 0..<400 {
      account.now += .milliseconds(Int.random(in: 0...200, using: &random))
      account.receive()
      change(&account, using: &random)
      account.advance()
      for (name, holds) in Self.invariants { #expect(holds(account), "\(name)") }
    }
    drain(&account)
  }

  private func change(_ account: inout Account, using random: inout SplitMix) {
    let priority = LoadPriority.allCases.randomElement(using: &random) ?? .near
    let ticket = account.tickets.randomElement(using: &random)
    switch (Int.random(in: 0..<11, using: &random), ticket) {
    case (0..<4, _):
      account.enter(Download(host: ["a", "b", "c"].randomElement(using: &random) ?? "a", priority: priority))
    case (4..<6, let ticket?): account.leave(ticket)
    case (6, let ticket?):
      account.downloads[ticket]?.priority = priority
      account.state.setPriority(ticket, priority)
    case (7, let ticket?):
      let isResumable = Bool.random(using: &random)
      account.downloads[ticket]?.isResumable = isResumable
      if !isResumable { account.downloads[ticket]?.wasUnresumable = true }
    case (8, _):
      guard let ticket = account.first({ $0 == .stopping }) else { return }
      account.downloads[ticket]?.phase = .waiting
      account.state.stopped(ticket, at: account.now)
    case (9, let ticket?) where account.downloads[ticket]?.phase == .running:
      // It restarts in its slot.
      account.state.stopped(ticket, at: account.now)
    case (10, _) where account.changesLimits:
      let total = Int.random(in: 1...3, using: &random)
      account.state.setLimits(TransferLimits(total: total, perHost: min(2, total), besideUrgent: total / 2))
    default: break
    }
  }

  /// Ends running downloads until none is left.
  private func drain(_ account: inout Account) {
    var rounds = 0
    while !account.downloads.isEmpty, rounds < 5000 {
      rounds += 1
      account.now += .seconds(1)
      account.advance()
      if let ticket = account.first({ $0 != .waiting }) {
        account.leave(ticket)
        account.advance()
      }
    }
    #expect(account.downloads.isEmpty)
    #expect(account.state.isEmpty)
    #expect(account.state.deadline == nil)
  }

  /// The priority of a download that waits while new visible ones keep coming, and its latest start.
  @Test(arguments: [(LoadPriority.prefetch, 11), (.near, 11)])
  func `a download starts in the end, however many visible ones come`(priority: LoadPriority, seconds: Int) {
    var state = SchedulerState(limits: TransferLimits(total: 2, perHost: 2, besideUrgent: 0))
    var now = Duration.zero
    var running: [SchedulerState.Ticket] = []
    var waiting: SchedulerState.Ticket?
    for round in 0..<200 where waiting.map({ !state.isRunning($0) }) ?? true {
      now += .milliseconds(100)
      _ = state.enter(host: "h", priority: .visible)
      if round == 1 { waiting = state.enter(host: "h", priority: priority) }
      if round > 1, !running.isEmpty { state.leave(running.removeFirst()) }
      for case .start(let ticket) in state.advance(at: now, preempt: { _ in true }) { running.append(ticket) }
    }
    #expect(waiting.map { state.isRunning($0) } == true)
    #expect(now <= .seconds(seconds))
  }
}

/// Random numbers that are equal in every run (Steele, Lea and Flood: SplitMix64).
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

// Decides by the policies that come with feedimg, and says how long a decision takes and what it allocates; for
// Benchmarks/policy.
//
//   PolicyBenchmark decisions ROUNDS   of each policy, a line: name, states, of the compiled policy the nanoseconds of
//                                      a decision, the same with the loop around it, and allocations; nanoseconds
//                                      of trying the rows one by one. Medians; the loop goes through the
//                                      situations and copies each
//   PolicyBenchmark check ROUNDS       of each policy, a line: name, median of the nanoseconds to read and check it
import CAllocations
import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Glibc

/// On the processor, so that a busy machine counts little.
func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The situations of all states, each several times, in an order without a pattern that a processor could learn.
func situations(of table: PolicyTable) throws -> [Situation] {
  let space = try table.space()
  let all = (0..<space.count).filter(space.isPossible).map(space.situation)
  var situations: [Situation] = []
  var random: UInt64 = 4
  while situations.count < 20_000 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    situations.append(all[Int(random >> 33) % all.count])
  }
  return situations
}

/// A way to decide.
///
/// All are called through this protocol, so that each pays the same for going through the situations: the compiler can
/// neither see into one of them nor leave out the copy of a situation that the loop makes.
protocol Deciding {
  func decision(in situation: Situation) -> Decision?
}

extension CompiledPolicy: Deciding {
  func decision(in situation: Situation) -> Decision? { decide(situation) }
}

/// Tries the rows of a table one by one.
struct NaivePolicy: Deciding {
  let table: PolicyTable

  func decision(in situation: Situation) -> Decision? { table.rule(in: situation)?.decision(in: situation) }
}

/// Decides nothing: what it takes is the loop's.
struct NoPolicy: Deciding {
  let decision: Decision

  func decision(in situation: Situation) -> Decision? { decision }
}

/// What one way to decide takes.
struct Cost {
  let policy: any Deciding
  /// Of one decision, by round.
  var nanoseconds: [Double] = []
  var allocations = 0
  /// So that no decision can be left out; the same for two ways that decide the same.
  var sum = 0

  init(_ policy: any Deciding) { self.policy = policy }

  mutating func measure(_ situations: [Situation]) {
    let (start, before) = (now(), allocation_count())
    for situation in situations {
      guard let decision = policy.decision(in: situation) else { continue }
      sum &+= decision.rule &+ (decision.load == .original ? 10 : 0)
    }
    allocations += Int(allocation_count() - before)
    nanoseconds.append(Double(now() - start) / Double(situations.count))
  }

  /// The median of what the rounds took, less what the loop took in the same rounds.
  func beyond(_ loop: Cost) -> Double {
    Self.median(zip(nanoseconds, loop.nanoseconds).map { $0 - $1 })
  }

  static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

func measureDecisions(_ rounds: Int) throws {
  for (name, text) in ShippedPolicies.all.map({ ($0.name, $0.text) }) {
    let table = try PolicyTable(fileName: "\(name).md", text: text)
    let policy = try CompiledPolicy(table)
    let situations = try situations(of: table)
    let first = policy.decide(situations[0])
    var costs = [Cost(policy), Cost(NoPolicy(decision: first)), Cost(NaivePolicy(table: table))]
    // In turn, so that a machine whose speed drifts drifts for all.
    for _ in 0..<rounds {
      for way in costs.indices { costs[way].measure(situations) }
    }
    let (compiled, loop, naive) = (costs[0], costs[1], costs[2])
    guard compiled.sum == naive.sum else { fatalError("two answers") }
    print(
      name,
      try table.space().count,
      compiled.beyond(loop),
      Cost.median(compiled.nanoseconds),
      compiled.allocations,
      naive.beyond(loop)
    )
  }
}

func measureChecks(_ rounds: Int) throws {
  for file in ShippedPolicies.all {
    var times: [Int] = []
    for _ in 0..<rounds {
      let start = now()
      let report = try PolicyReport(PolicyTable(fileName: "\(file.name).md", text: file.text))
      guard report.errors.isEmpty else { fatalError("\(file.name) has errors") }
      times.append(now() - start)
    }
    print(file.name, times.sorted()[rounds / 2])
  }
}

switch (CommandLine.arguments.dropFirst().first, CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) })
{
case ("decisions", let rounds?) where rounds > 0: try measureDecisions(rounds)
case ("check", let rounds?) where rounds > 0: try measureChecks(rounds)
default:
  print("usage: PolicyBenchmark decisions ROUNDS | check ROUNDS")
  exit(2)
}

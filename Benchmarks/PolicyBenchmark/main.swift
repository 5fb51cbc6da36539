// Decides with the built-in policies, and reports the time and the allocations of a decision, for
// Benchmarks/policy.
//
//   PolicyBenchmark decisions ROUNDS   For each policy, one line: name, states, the nanoseconds of a compiled
//                                      decision, the same with the loop around it, the allocations, and the
//                                      nanoseconds of trying the rows one by one. All are medians. The loop
//                                      visits the situations and copies each.
//   PolicyBenchmark check ROUNDS       For each policy, one line: name, and the median nanoseconds to read and check it.
import CAllocations
import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Glibc

/// Processor time, so that other processes matter little.
func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The situations of all states, each several times, in a random order that a processor cannot learn.
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
/// All are called through this protocol, so that each has the same cost of visiting the situations. The
/// compiler can neither inline a way nor remove the loop's copy of a situation.
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

/// Decides nothing: its time is that of the loop.
struct NoPolicy: Deciding {
  let decision: Decision

  func decision(in situation: Situation) -> Decision? { decision }
}

/// The cost of one way to decide.
struct Cost {
  let policy: any Deciding
  /// Of one decision, by round.
  var nanoseconds: [Double] = []
  var allocations = 0
  /// Prevents the removal of decisions. Two ways that decide the same have the same value.
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

  /// The median of the rounds' times, less the loop's times in the same rounds.
  func beyond(_ loop: Cost) -> Double {
    Self.median(zip(nanoseconds, loop.nanoseconds).map { $0 - $1 })
  }

  static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

func measureDecisions(_ rounds: Int) throws {
  for (name, text) in ShippedPolicies.all.map({ ($0.name, $0.text) }) {
    let table = try PolicyTable(name: name, fileName: "\(name).md", markdown: text)
    let policy = try CompiledPolicy(table)
    let situations = try situations(of: table)
    let first = policy.decide(situations[0])
    var costs = [Cost(policy), Cost(NoPolicy(decision: first)), Cost(NaivePolicy(table: table))]
    // Alternating, so that a change of the machine's speed affects all ways.
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
      let table = try PolicyTable(name: file.name, fileName: "\(file.name).md", markdown: file.text)
      let report = try PolicyReport(table)
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

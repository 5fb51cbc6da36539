// Decides by the policies that come with feedimg, and says how long a decision takes and what it allocates; for
// Benchmarks/policy.
//
//   PolicyBenchmark decisions ROUNDS   of each policy, a line: name, states, then of the compiled policy and of the
//                                      rows tried one by one: nanoseconds (fastest round), allocations. What
//                                      the loop itself takes is taken off: going through the situations, copying each
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

/// What one way to decide takes.
struct Cost {
  var nanoseconds: [Double] = []
  var allocations = 0
  /// So that no decision can be left out; the same for two ways that decide the same.
  var sum = 0

  mutating func measure(_ situations: [Situation], repeats: Int, _ decide: (Situation) -> Decision?) {
    let (start, before) = (now(), allocation_count())
    for _ in 0..<repeats {
      for situation in situations {
        guard let decision = decide(situation) else { continue }
        sum &+= decision.rule &+ (decision.load == .original ? 10 : 0)
      }
    }
    allocations += Int(allocation_count() - before)
    nanoseconds.append(Double(now() - start) / Double(situations.count * repeats))
  }

  /// That of the fastest round: a virtual machine's clock may change by half from one to the next.
  var least: Double { nanoseconds.min() ?? 0 }
}

/// Stands for a decision where the loop itself is measured.
@inline(never)
func undecided(_ situation: borrowing Situation, _ decision: Decision) -> Decision {
  decision
}

func measureDecisions(_ rounds: Int) throws {
  for (name, text) in ShippedPolicies.all.map({ ($0.name, $0.text) }) {
    let table = try PolicyTable(fileName: "\(name).md", text: text)
    let policy = try CompiledPolicy(table)
    let situations = try situations(of: table)
    let first = policy.decide(situations[0])
    var (compiled, naive, loop) = (Cost(), Cost(), Cost())
    // In turn, so that a machine whose speed drifts drifts for both.
    for _ in 0..<rounds {
      compiled.measure(situations, repeats: 10) { policy.decide($0) }
      loop.measure(situations, repeats: 10) { undecided($0, first) }
      naive.measure(situations, repeats: 1) { table.rule(in: $0)?.decision(in: $0) }
    }
    guard compiled.sum == naive.sum * 10 else { fatalError("two answers") }
    print(
      name,
      try table.space().count,
      compiled.least - loop.least,
      compiled.allocations,
      naive.least - loop.least,
      naive.allocations
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

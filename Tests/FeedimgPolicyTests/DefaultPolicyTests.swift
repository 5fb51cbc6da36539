import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Testing

/// The policy that applies by default.
struct DefaultPolicyTests {
  private let table: PolicyTable
  private let policy: CompiledPolicy

  init() throws {
    table = try PolicyTable(name: "default", fileName: "default.md", markdown: ShippedPolicies.defaultTable)
    policy = try CompiledPolicy(table)
  }

  @Test func `every state is decided by the written rule`() {
    var count = 0
    for network in NetworkKind.allCases {
      for original in Presence.allCases {
        for thumbnail in Presence.allCases {
          for alwaysOriginal in [false, true] {
            let situation = Situation(
              network: network,
              alwaysOriginal: alwaysOriginal,
              original: original,
              thumbnail: thumbnail
            )
            let decision = policy.decide(situation)
            let found = DefaultRule.Outcome(show: decision.show, load: decision.load)
            #expect(found == DefaultRule.outcome(situation), "\(situation)")
            count += 1
          }
        }
      }
    }
    #expect(count == 90)
  }

  @Test func `facts that the policy does not use change nothing`() {
    let plain = Situation(network: .cellular, original: .remote, thumbnail: .cached)
    var dear = plain
    dear.metered = .yes
    dear.isRoaming = true
    dear.savesData = true
    dear.size = .mebibytes(400)
    dear.budgetLeft = ByteCount(0)
    dear.bandwidth = 1
    dear.battery = 3
    #expect(policy.decide(plain) == policy.decide(dear))
  }

  @Test func `a look-up decides the same as reading the rows`() throws {
    let space = try table.space()
    #expect(space.count == 90)
    for state in 0..<space.count {
      let situation = space.situation(at: state)
      #expect(space.state(of: situation) == state)
      #expect(policy.decide(situation) == table.rule(in: situation)?.decision(in: situation))
    }
  }

  @Test(arguments: [
    (NetworkKind.wifi, false, Presence.remote, 2, "network is wifi", "default.md:8"),
    (.cellular, false, .remote, 4, "network is cellular; always original is no", "default.md:10"),
    (.cellular, true, .remote, 3, "network is cellular; always original is yes", "default.md:9"),
    (.offline, false, .none, 5, "network is offline; thumbnail is cached", "default.md:11"),
    (.offline, false, .cached, 1, "original is cached", "default.md:7"),
  ])
  func `the rule, its place and the reason are reported`(
    network: NetworkKind,
    alwaysOriginal: Bool,
    original: Presence,
    rule: Int,
    why: String,
    place: String
  ) {
    let situation = Situation(
      network: network,
      alwaysOriginal: alwaysOriginal,
      original: original,
      thumbnail: .cached
    )
    #expect(policy.decide(situation).rule == rule)
    #expect(policy.why(rule: rule, in: situation) == why)
    #expect(policy.place(ofRule: rule) == place)
  }
}

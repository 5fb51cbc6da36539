import FeedimgModel

/// The decisions of a policy's rules under the laws, which ask for no more than the network and the variants.
///
/// Made once for each rule, so that the states that differ only in other facts share them.
struct LawTable: Sendable {
  /// For each rule one decision for each combination of network, original and thumbnail.
  private let decisions: [[Decision]]
  private let network: Int
  private let original: Int
  private let thumbnail: Int

  private static let situations = NetworkKind.allCases.flatMap { network in
    Presence.allCases.flatMap { original in
      Presence.allCases.map { Situation(network: network, original: original, thumbnail: $0) }
    }
  }

  init(_ rules: [Rule], in space: StateSpace) {
    decisions = rules.map { rule in Self.situations.map(rule.decision) }
    func stride(_ fact: Fact) -> Int {
      zip(space.axes, space.strides).first { $0.0.fact == fact }?.1 ?? 1
    }
    (network, original, thumbnail) = (stride(.network), stride(.original), stride(.thumbnail))
  }

  /// What a rule decides in a state in which it applies.
  func decision(of rule: Int, at state: Int) -> Decision {
    decisions[rule][(state / network % 5 * 3 + state / original % 3) * 3 + state / thumbnail % 3]
  }
}

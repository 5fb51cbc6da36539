import FeedimgModel

/// A fact whose values can be ordered by what data costs the user.
struct DearerFact {
  /// States in which a policy loads less than in those that differ only in a dearer value of the fact.
  struct Step {
    let from: String
    let to: String
    /// Ascending; all have the value ``from``.
    var states: [Int] = []
  }

  let fact: Fact
  /// Pairs of a value and a dearer one; of the pairs that tell of the same situation the first counts.
  private let pairs: [(from: String, to: String)]

  static let all: [DearerFact] = [
    // What is unknown may be free or not: it is asked only where the two that are known are in order.
    DearerFact(fact: .metered, pairs: [("no", "yes"), ("no", "unknown"), ("unknown", "yes")]),
    DearerFact(fact: .roaming, pairs: [("no", "yes")]),
    DearerFact(fact: .dataSaver, pairs: [("off", "on")]),
  ]

  /// Where a policy loads more although the fact is dearer.
  func steps(in evaluation: Evaluation, along axis: Int) -> [Step] {
    let stride = evaluation.space.strides[axis]
    let words = fact.words ?? []
    let ordinals = pairs.map { (words.firstIndex(of: $0.from) ?? 0, words.firstIndex(of: $0.to) ?? 0) }
    var steps = pairs.map { Step(from: $0.from, to: $0.to) }
    for base in 0..<evaluation.space.count where base / stride % words.count == 0 {
      let weights = words.indices.map { weight(evaluation.decision(at: base + $0 * stride)) }
      for (index, (from, to)) in ordinals.enumerated() {
        guard let less = weights[from], let more = weights[to], more > less else { continue }
        steps[index].states.append(base + from * stride)
        break
      }
    }
    return steps.filter { !$0.states.isEmpty }.map {
      Step(from: $0.from, to: $0.to, states: $0.states.sorted())
    }
  }

  private func weight(_ decision: Decision?) -> Int? { decision.map { Self.weight($0.load) } }

  /// How much a load costs in comparison with others.
  static func weight(_ load: ImageVariant.Role?) -> Int {
    switch load {
    case nil: 0
    case .thumbnail: 1
    case .original: 2
    }
  }
}

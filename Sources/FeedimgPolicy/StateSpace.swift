package import FeedimgModel

/// All situations that conditions can tell apart, numbered; the last fact counts fastest.
///
/// The facts that the laws depend on always belong to it.
package struct StateSpace: Sendable, Hashable {
  /// In the fixed order of facts.
  package let axes: [Axis]
  /// How far apart neighbours on an axis are.
  let strides: [Int]
  /// The product of the axes, those states included in which no situation can be.
  package let count: Int
  /// The places of the axes that ``Fact/fits`` ties together; nil where all states are possible.
  let tie: FitsTie?
  /// For each state whether a situation can be in it; nil where all are possible.
  private let possible: [Bool]?

  /// More states are refused rather than enumerated.
  package static let greatestCount = 2_000_000

  /// The facts that the laws depend on, which therefore belong to the states of every policy.
  private static let factsOfLaws: [Fact] = [.network, .original, .thumbnail]

  /// The states that some conditions can tell apart.
  ///
  /// - Throws: ``TooManyStatesError`` over ``greatestCount``.
  init(of conditions: [Condition]) throws(TooManyStatesError) {
    var facts = Self.factsOfLaws
    var thresholds: [[Threshold]] = facts.map { _ in [] }
    for condition in conditions {
      if let place = facts.firstIndex(of: condition.fact) {
        thresholds[place] += condition.thresholds
      } else {
        facts.append(condition.fact)
        thresholds.append(condition.thresholds)
      }
    }
    axes = facts.indices.map { Axis(facts[$0], cutAt: thresholds[$0]) }.sorted { $0.fact < $1.fact }
    var strides = [Int](repeating: 1, count: axes.count)
    var count = 1
    for index in axes.indices.reversed() {
      strides[index] = count
      let (product, isOverflow) = count.multipliedReportingOverflow(by: axes[index].regions.count)
      count = isOverflow ? .max : product
    }
    guard count <= Self.greatestCount else {
      let widest = axes.max { $0.regions.count < $1.regions.count }
      throw TooManyStatesError(count: count, fact: widest?.fact, regionCount: widest?.regions.count ?? 0)
    }
    self.strides = strides
    self.count = count
    let (axes, tie) = (axes, FitsTie(axes))
    self.tie = tie
    possible = tie.map { tie in
      (0..<count).map { tie.isPossible(Self.coordinates(of: $0, strides), on: axes) }
    }
  }

  /// Whether a situation can be in a state.
  ///
  /// A picture of unknown size, for one, cannot be known to fit the budget.
  package func isPossible(_ state: Int) -> Bool {
    possible?[state] ?? true
  }

  /// The number of states in which a situation can be.
  package var possibleCount: Int { possible?.count { $0 } ?? count }

  /// The index of a state's region on each axis.
  func coordinates(of state: Int) -> [Int] { Self.coordinates(of: state, strides) }

  private static func coordinates(of state: Int, _ strides: [Int]) -> [Int] {
    var coordinates = strides
    var rest = state
    for index in strides.indices {
      coordinates[index] = rest / strides[index]
      rest -= coordinates[index] * strides[index]
    }
    return coordinates
  }

  /// A situation in that state; some situation where none can be.
  package func situation(at state: Int) -> Situation {
    var situation = Situation(network: .offline, original: .none, thumbnail: .none)
    let coordinates = coordinates(of: state)
    for index in axes.indices {
      let fact = axes[index].fact
      switch axes[index].regions[coordinates[index]] {
      case .word(let ordinal): fact.set(ordinal: ordinal, in: &situation)
      case .quantities(let range): fact.set(quantity: range.lowerBound, in: &situation)
      case .unknown: fact.set(quantity: nil, in: &situation)
      }
    }
    tie?.settle(&situation, at: coordinates, on: axes)
    return situation
  }

  /// The state that a situation is in.
  package func state(of situation: Situation) -> Int {
    var state = 0
    for (axis, stride) in zip(axes, strides) {
      let index =
        switch axis.fact.domain {
        case .words: axis.fact.ordinal(in: situation)
        case .quantity:
          axis.fact.quantity(in: situation).map { quantity in axis.upperBounds.count { $0 < quantity } }
            ?? axis.regions.count - 1
        }
      state += index * stride
    }
    return state
  }
}

package import FeedimgJSON
package import FeedimgModel

/// All states that conditions can tell apart, numbered; the last fact changes fastest.
///
/// Always includes the facts that the laws depend on.
package struct StateSpace: Sendable, Hashable {
  /// In the fixed order of facts.
  package let axes: [Axis]
  /// For each axis, the difference between the numbers of neighbouring states.
  let strides: [Int]
  /// The product of the axes, impossible states included.
  package let count: Int
  /// The axes that ``Fact/fits`` links; nil if all states are possible.
  let tie: FitsTie?
  /// For each state, whether a situation can be in it; nil if all states are possible.
  private let possible: [Bool]?

  /// The most states that are enumerated; more are an error.
  package static let maximumCount = 2_000_000

  /// The facts that the laws depend on.
  ///
  /// They belong to the states of every policy.
  private static let factsOfLaws: [Fact] = [.network, .original, .thumbnail]

  /// The states that some conditions can tell apart.
  ///
  /// - Throws: ``TooManyStatesError`` for more than ``maximumCount`` states.
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
    guard count <= Self.maximumCount else {
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
  /// For example, `fits` is never `yes` for an image of unknown size.
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

  /// A situation in that state; any situation if the state is impossible.
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

  /// The state of a situation.
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

/// The states of a policy are too many to enumerate.
struct TooManyStatesError: Error {
  /// `Int.max` if the number overflows.
  let count: Int
  /// The fact with the most regions.
  let fact: Fact?
  let regionCount: Int
}

extension TooManyStatesError {
  var message: String {
    let shown = count == .max ? "too many" : "\(count)"
    let cause = fact.map { "; `\($0.name)` alone has \(regionCount) ranges or values" } ?? ""
    return "\(shown) states, the limit is \(StateSpace.maximumCount)\(cause)"
  }
}

/// An example state and a situation in it.
package struct Witness: Sendable, Hashable {
  /// The value of one fact in the state.
  package struct Value: Sendable, Hashable {
    package let fact: Fact
    /// A word, a region such as `< 20 MB`, or `unknown`.
    package let text: String
  }

  /// In the order of the space's axes.
  package let values: [Value]
  package let situation: Situation

  /// The state as an object, such as `{"network": "wifi", "size": "< 20 MB"}`.
  package var json: JSONValue {
    .object(JSONObject(values.map { ($0.fact.name, .string($0.text)) }))
  }
}

extension StateSpace {
  /// A state with its situation.
  package func witness(at state: Int) -> Witness {
    let values = zip(axes, coordinates(of: state)).map { axis, index in
      Witness.Value(fact: axis.fact, text: axis.label(index))
    }
    return Witness(values: values, situation: situation(at: state))
  }
}

/// Knows the possible combinations of `size`, `budget left` and the `fits` derived from them.
///
/// Without it the check would demand rules for states that no situation reaches, and count them.
struct FitsTie: Sendable, Hashable {
  private let fits: Int
  private let size: Int?
  private let budgetLeft: Int?

  /// The values of a quantity in a state.
  private enum Knowledge {
    case unknown
    case between(ClosedRange<Int>)
    /// The policy does not use it.
    case open

    var range: ClosedRange<Int>? {
      switch self {
      case .unknown: nil
      case .between(let range): range
      case .open: 0...Int.max
      }
    }

    var canBeUnknown: Bool { if case .between = self { false } else { true } }
  }

  /// - Returns: nil where the axes are independent.
  init?(_ axes: [Axis]) {
    guard let fits = axes.firstIndex(where: { $0.fact == .fits }) else { return nil }
    self.fits = fits
    size = axes.firstIndex { $0.fact == .size }
    budgetLeft = axes.firstIndex { $0.fact == .budgetLeft }
  }

  /// Whether a situation can have those coordinates.
  func isPossible(_ coordinates: [Int], on axes: [Axis]) -> Bool {
    let size = knowledge(size, coordinates, axes)
    let budgetLeft = knowledge(budgetLeft, coordinates, axes)
    guard coordinates[fits] != 2 else { return size.canBeUnknown || budgetLeft.canBeUnknown }
    guard let size = size.range, let budgetLeft = budgetLeft.range else { return false }
    return coordinates[fits] == 1
      ? size.lowerBound <= budgetLeft.upperBound / 100 : size.upperBound > budgetLeft.lowerBound / 100
  }

  /// Chooses quantities within their regions so that `fits` has the value of the state.
  func settle(_ situation: inout Situation, at coordinates: [Int], on axes: [Axis]) {
    let size = knowledge(size, coordinates, axes)
    let budgetLeft = knowledge(budgetLeft, coordinates, axes)
    switch coordinates[fits] {
    case 1:
      situation.size = (size.range?.lowerBound).map { ByteCount($0) }
      situation.budgetLeft = (budgetLeft.range?.upperBound).map { ByteCount($0) }
    case 0:
      situation.size = (size.range?.upperBound).map { ByteCount($0) }
      situation.budgetLeft = (budgetLeft.range?.lowerBound).map { ByteCount($0) }
    default:
      if case .open = size { situation.size = nil }
      if case .open = budgetLeft { situation.budgetLeft = nil }
    }
  }

  private func knowledge(_ axis: Int?, _ coordinates: [Int], _ axes: [Axis]) -> Knowledge {
    guard let axis else { return .open }
    if case .quantities(let range) = axes[axis].regions[coordinates[axis]] { return .between(range) }
    return .unknown
  }
}

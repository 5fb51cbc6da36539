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
  let constraint: FitsConstraint?
  /// For each state, whether a situation can be in it; nil if all states are possible.
  private let possible: [Bool]?

  /// The most states that are enumerated; more are an error.
  package static let maximumCount = 2_000_000

  /// The facts that the laws depend on.
  ///
  /// They belong to the states of every policy.
  private static let factsOfLaws: [Fact] = [.network, .original, .thumbnail]

  /// The states that some conditions of a file can tell apart.
  ///
  /// - Throws: ``PolicyErrors`` for more than ``maximumCount`` states; it names the fact with the most regions.
  init(of conditions: [Condition], file: String) throws(PolicyErrors) {
    axes = Set(Self.factsOfLaws + conditions.map(\.fact)).sorted().map { fact in
      Axis(fact, cutAt: conditions.filter { $0.fact == fact }.flatMap(\.thresholds))
    }
    var strides = [Int](repeating: 1, count: axes.count)
    var count = 1
    for index in axes.indices.reversed() {
      strides[index] = count
      let (product, isOverflow) = count.multipliedReportingOverflow(by: axes[index].regions.count)
      count = isOverflow ? .max : product
    }
    guard count <= Self.maximumCount else {
      let shown = count == .max ? "too many" : "\(count)"
      let widest = axes.max { $0.regions.count < $1.regions.count }
      let cause = widest.map { "; `\($0.fact.name)` alone has \($0.regions.count) ranges or values" } ?? ""
      let message = "\(shown) states, the limit is \(Self.maximumCount)\(cause)"
      throw PolicyErrors(PolicyError(file: file, message))
    }
    self.strides = strides
    self.count = count
    let (axes, constraint) = (axes, FitsConstraint(axes))
    self.constraint = constraint
    possible = constraint.map { constraint in
      (0..<count).map { constraint.isPossible(Self.coordinates(of: $0, strides), on: axes) }
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
    constraint?.satisfy(in: &situation, at: coordinates, on: axes)
    return situation
  }

  /// The state of a situation.
  package func state(of situation: Situation) -> Int {
    StateIndex(self).state(of: situation)
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

/// The possible combinations of `size`, `budget left` and the `fits` derived from them.
///
/// Without it the check would demand rules for states that no situation reaches, and count them.
struct FitsConstraint: Sendable, Hashable {
  private let fits: Int
  private let size: Int?
  private let budgetLeft: Int?

  /// The known values of a quantity in a state, and whether it can be unknown.
  private typealias KnownRange = (range: ClosedRange<Int>?, canBeUnknown: Bool)

  /// Returns nil where the axes are independent.
  init?(_ axes: [Axis]) {
    guard let fits = axes.firstIndex(where: { $0.fact == .fits }) else { return nil }
    self.fits = fits
    size = axes.firstIndex { $0.fact == .size }
    budgetLeft = axes.firstIndex { $0.fact == .budgetLeft }
  }

  /// Whether a situation can have those coordinates.
  func isPossible(_ coordinates: [Int], on axes: [Axis]) -> Bool {
    let size = knownRange(size, coordinates, axes)
    let budgetLeft = knownRange(budgetLeft, coordinates, axes)
    guard coordinates[fits] != 2 else { return size.canBeUnknown || budgetLeft.canBeUnknown }
    guard let size = size.range, let budgetLeft = budgetLeft.range else { return false }
    return coordinates[fits] == 1
      ? size.lowerBound <= budgetLeft.upperBound / 100 : size.upperBound > budgetLeft.lowerBound / 100
  }

  /// Chooses quantities within their regions so that `fits` has the value of the state.
  func satisfy(in situation: inout Situation, at coordinates: [Int], on axes: [Axis]) {
    let size = knownRange(size, coordinates, axes)
    let budgetLeft = knownRange(budgetLeft, coordinates, axes)
    switch coordinates[fits] {
    case 1:
      situation.size = (size.range?.lowerBound).map { ByteCount($0) }
      situation.budgetLeft = (budgetLeft.range?.upperBound).map { ByteCount($0) }
    case 0:
      situation.size = (size.range?.upperBound).map { ByteCount($0) }
      situation.budgetLeft = (budgetLeft.range?.lowerBound).map { ByteCount($0) }
    default:
      if size.canBeUnknown { situation.size = nil }
      if budgetLeft.canBeUnknown { situation.budgetLeft = nil }
    }
  }

  private func knownRange(_ axis: Int?, _ coordinates: [Int], _ axes: [Axis]) -> KnownRange {
    // The policy does not use the quantity.
    guard let axis else { return (0...Int.max, true) }
    if case .quantities(let range) = axes[axis].regions[coordinates[axis]] { return (range, false) }
    return (nil, true)
  }
}

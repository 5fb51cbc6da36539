package import FeedimgModel

/// A policy that has a rule for every state, with all decisions computed in advance.
package final class CompiledPolicy: Sendable {
  package let table: PolicyTable
  /// The distinct decisions of all states.
  private let decisions: [Decision]
  /// For each state, the index of its decision.
  ///
  /// A policy makes few distinct decisions, so both arrays stay in the L1 cache.
  private let choices: [UInt32]
  private let index: StateIndex
  /// Whether a rule depends on the cost of data.
  package let needsCost: Bool
  /// Whether a rule depends on the budget for cellular data.
  package let needsBudget: Bool
  /// Whether a rule depends on the battery.
  package let needsBattery: Bool

  /// Such as `default`.
  package var name: String { table.name }

  /// Computes all decisions.
  ///
  /// - Parameter table: The policy.
  /// - Throws: ``PolicyErrors`` if some states have no rule, or if there are too many states.
  package init(_ table: PolicyTable) throws(PolicyErrors) {
    let space = try table.space()
    let evaluation = Evaluation(table, in: space)
    guard !evaluation.hasGap else {
      throw PolicyErrors(errors: PolicyCheck(evaluation).gap.map(\.problem))
    }
    self.table = table
    index = StateIndex(space)
    let columns = Set(table.columns)
    needsCost = !columns.isDisjoint(with: [.metered, .roaming])
    needsBudget = !columns.isDisjoint(with: [.budgetLeft, .fits])
    needsBattery = columns.contains(.battery)
    // Impossible states are never looked up, but they need an entry in the array.
    let filler = table.rules[0].decision(in: space.situation(at: 0))
    var decisions: [Decision] = []
    var places: [Decision: UInt32] = [:]
    choices = (0..<space.count).map { state in
      let decision = evaluation.decision(at: state) ?? filler
      if let place = places[decision] { return place }
      let place = UInt32(decisions.count)
      places[decision] = place
      decisions.append(decision)
      return place
    }
    self.decisions = decisions
  }

  /// Decides a situation: the first rule that applies, then the laws.
  ///
  /// Looks up one array element, allocates nothing and cannot fail.
  package func decide(_ situation: Situation) -> Decision {
    decisions[Int(choices[index.state(of: situation)])]
  }

  /// Why a rule applies in a situation, such as `network is cellular; always original is no`, or `always`.
  ///
  /// The rule's number must come from a decision of this policy.
  package func why(rule: Int, in situation: Situation) -> String {
    table.rules[rule - 1].why(in: situation)
  }

  /// The file and line of a rule, such as `default.md:10`.
  ///
  /// The rule's number must come from a decision of this policy.
  package func place(ofRule rule: Int) -> String {
    table.rules[rule - 1].line.map { "\(table.fileName):\($0)" } ?? "\(table.fileName) rule \(rule)"
  }
}

extension Rule {
  /// Why the rule applies in a situation that it covers.
  package func why(in situation: Situation) -> String {
    conditions.isEmpty ? "always" : conditions.map { $0.statement(in: situation) }.joined(separator: "; ")
  }
}

extension PolicyTable {
  /// The states that the rules can tell apart.
  ///
  /// - Throws: ``PolicyErrors`` if there are too many; it names the fact with the most regions.
  package func space() throws(PolicyErrors) -> StateSpace {
    try space(of: rules.flatMap(\.conditions))
  }

  func space(of conditions: [Condition]) throws(PolicyErrors) -> StateSpace {
    do throws(TooManyStatesError) {
      return try StateSpace(of: conditions)
    } catch {
      throw PolicyErrors(errors: [PolicyError(file: fileName, error.message)])
    }
  }
}

/// Finds the number of a situation's state.
///
/// A class, because copying its fields takes longer than one decision. The fields are inline, because
/// following an array's reference takes longer than the additions.
final class StateIndex: Sendable {
  /// The number of facts with words that have an inline place; ``rest(of:)`` adds the others.
  private static let wordPlaces = 8
  /// The number of inline places for quantities, of at most six thresholds each.
  private static let quantityPlaces = 4

  private let wordCount: Int
  private let words: InlineArray<8, Word>
  private let quantityCount: Int
  private let quantities: InlineArray<4, Thresholds>
  /// Facts with words that have no inline place, or that are not stored as a byte of the situation.
  private let moreWords: [(fact: Fact, stride: Int)]
  private let moreQuantities: [Thresholds]
  private let hasMore: Bool

  /// A fact with words that is stored as one byte of the situation.
  private struct Word: Sendable {
    var offset = 0
    var stride = 0
  }

  /// Up to six thresholds of a quantity.
  ///
  /// A quantity with more thresholds uses several instances.
  private struct Thresholds: Sendable {
    var offset = 0
    var stride = 0
    // The largest quantity of each known region. `Int.max`, which no quantity exceeds, fills the unused
    // places.
    // The last known region ends below `Int.max`, because `Int.max` stands for `unknown`, the highest region.
    var first = UInt.max
    var second = UInt.max
    var third = UInt.max
    var fourth = UInt.max
    var fifth = UInt.max
    var sixth = UInt.max

    init() {}

    init(offset: Int, stride: Int, bounds: some Sequence<Int>) {
      let six = bounds.prefix(6).map { UInt(bitPattern: $0) } + repeatElement(.max, count: 6)
      (self.offset, self.stride) = (offset, stride)
      (first, second, third, fourth, fifth, sixth) = (six[0], six[1], six[2], six[3], six[4], six[5])
    }

    /// This quantity's share of the state's number.
    ///
    /// Compares with all bounds instead of stopping early, because a mispredicted branch costs more.
    @inline(__always)
    func part(of quantity: UInt) -> Int {
      let exceeded =
        Self.one(first < quantity) &+ Self.one(second < quantity) &+ Self.one(third < quantity)
        &+ Self.one(fourth < quantity) &+ Self.one(fifth < quantity) &+ Self.one(sixth < quantity)
      return exceeded &* stride
    }

    /// 1 for true.
    ///
    /// Reads the byte of the `Bool`, because `?:` compiles to a jump.
    @inline(__always)
    private static func one(_ exceeded: Bool) -> Int { Int(unsafeBitCast(exceeded, to: UInt8.self)) }
  }

  init(_ space: StateSpace) {
    var words: [Word] = []
    var quantities: [Thresholds] = []
    var moreWords: [(fact: Fact, stride: Int)] = []
    for (axis, step) in zip(space.axes, space.strides) {
      if let offset = axis.fact.quantityOffset {
        let bounds = axis.upperBounds.dropLast() + [.max - 1]
        for start in stride(from: 0, to: bounds.count, by: 6) {
          quantities.append(Thresholds(offset: offset, stride: step, bounds: bounds[start...]))
        }
      } else if let offset = axis.fact.wordOffset, words.count < Self.wordPlaces {
        words.append(Word(offset: offset, stride: step))
      } else {
        moreWords.append((axis.fact, step))
      }
    }
    wordCount = words.count
    self.words = InlineArray { $0 < words.count ? words[$0] : Word() }
    quantityCount = min(quantities.count, Self.quantityPlaces)
    self.quantities = InlineArray { $0 < quantities.count ? quantities[$0] : Thresholds() }
    self.moreWords = moreWords
    moreQuantities = Array(quantities.dropFirst(Self.quantityPlaces))
    hasMore = !moreWords.isEmpty || !moreQuantities.isEmpty
  }

  /// Returns the same number as ``StateSpace/state(of:)`` of the space.
  ///
  /// The sums cannot overflow, because the number of states is bounded.
  @inline(__always)
  func state(of situation: Situation) -> Int {
    let state = withUnsafeBytes(of: situation) { bytes in
      var state = 0
      for place in 0..<wordCount {
        let word = words[place]
        state &+= Int(bytes.load(fromByteOffset: word.offset, as: UInt8.self)) &* word.stride
      }
      for place in 0..<quantityCount {
        let quantity = bytes.load(fromByteOffset: quantities[place].offset, as: UInt.self)
        state &+= quantities[place].part(of: quantity)
      }
      return state
    }
    return hasMore ? state &+ rest(of: situation) : state
  }

  /// The share of the facts that have no inline place.
  @inline(never)
  private func rest(of situation: Situation) -> Int {
    var state = 0
    for (fact, stride) in moreWords { state &+= fact.ordinal(in: situation) &* stride }
    withUnsafeBytes(of: situation) { bytes in
      for more in moreQuantities {
        state &+= more.part(of: bytes.load(fromByteOffset: more.offset, as: UInt.self))
      }
    }
    return state
  }
}

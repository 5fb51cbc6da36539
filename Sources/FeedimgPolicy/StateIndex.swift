import FeedimgModel

/// Finds the number of a situation's state.
///
/// A class, because a copy of its numbers for each decision would take longer than the decision.
/// The numbers stand in the object itself, because following an array takes longer than the sums.
final class StateIndex: Sendable {
  /// How many facts of words have a place of their own; the others are added by ``rest(of:)``.
  private static let wordPlaces = 8
  /// The same for quantities, of at most six thresholds each.
  private static let quantityPlaces = 4

  private let wordCount: Int
  private let words: InlineArray<8, Word>
  private let quantityCount: Int
  private let quantities: InlineArray<4, Thresholds>
  /// Facts of words beyond the places, and those that do not stand in a byte of the situation.
  private let moreWords: [(fact: Fact, stride: Int)]
  private let moreQuantities: [Thresholds]
  private let hasMore: Bool

  /// A fact of words that stands in one byte of the situation.
  private struct Word: Sendable {
    var offset = 0
    var stride = 0
  }

  /// Up to six thresholds of a quantity; one with more has several of these.
  private struct Thresholds: Sendable {
    var offset = 0
    var stride = 0
    // The greatest quantity of each known region. `Int.max`, which no quantity exceeds, fills the rest.
    // The bound of the last region is below `Int.max`, which stands for `unknown`, the region above all others.
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

    /// The part of the state's number.
    ///
    /// It counts all bounds instead of stopping at the right one: a wrong guess of the processor costs more.
    @inline(__always)
    func part(of quantity: UInt) -> Int {
      let exceeded =
        Self.one(first < quantity) &+ Self.one(second < quantity) &+ Self.one(third < quantity)
        &+ Self.one(fourth < quantity) &+ Self.one(fifth < quantity) &+ Self.one(sixth < quantity)
      return exceeded &* stride
    }

    /// One for yes, from the byte that a `Bool` is: `?:` becomes a jump.
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

  /// The same as ``StateSpace/state(of:)`` of the space.
  ///
  /// Nothing can overflow: the states of a space are counted, and their number is bounded.
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

  /// What the facts add that have no place of their own.
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

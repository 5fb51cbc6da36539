package import FeedimgModel

/// One dimension of a policy's states: a fact, split into the values that the policy can tell apart.
package struct Axis: Sendable, Hashable {
  package let fact: Fact
  /// The words; for a quantity, the regions between and at the thresholds in ascending order, then `unknown`.
  package let regions: [Region]
  /// Ascending.
  ///
  /// Of equal quantities, the text of the first mention is kept.
  private let thresholds: [Threshold]

  /// Splits a fact at the quantities that conditions mention.
  ///
  /// - Parameters:
  ///   - fact: The fact.
  ///   - thresholds: In any order. Of equal quantities, the first gives the text.
  package init(_ fact: Fact, cutAt thresholds: [Threshold] = []) {
    self.fact = fact
    var cuts: [Threshold] = []
    for threshold in thresholds.sorted(by: { $0.quantity < $1.quantity })
    where cuts.last?.quantity != threshold.quantity {
      cuts.append(threshold)
    }
    self.thresholds = cuts
    switch fact.domain {
    case .words(let words):
      regions = words.indices.map(Region.word)
    case .quantity(let unit):
      var regions: [Region] = []
      var next = 0
      for cut in cuts.map(\.quantity) {
        // No quantity lies between 20 B and 21 B: an empty region would be a gap that no rule can close.
        if next < cut { regions.append(.quantities(next...(cut - 1))) }
        regions.append(.quantities(cut...cut))
        next = cut == .max ? cut : cut + 1
      }
      let maximum = unit.maximum ?? .max
      if next <= maximum, cuts.last?.quantity != .max { regions.append(.quantities(next...maximum)) }
      self.regions = regions + [.unknown]
    }
  }

  /// The largest quantity of each known region.
  var upperBounds: [Int] {
    regions.compactMap { if case .quantities(let range) = $0 { range.upperBound } else { nil } }
  }

  /// The name of one region, such as `wifi`, `< 20 MB` or `unknown`.
  package func label(_ index: Int) -> String {
    labels([index]).first ?? "unknown"
  }

  /// The names of several regions, given in ascending order.
  ///
  /// Adjacent quantities are merged.
  package func labels(_ indices: [Int]) -> [String] {
    var labels: [String] = []
    var run: ClosedRange<Int>?
    for index in indices {
      switch regions[index] {
      case .word(let word): labels.append(fact.words?[word] ?? "")
      case .unknown: break
      case .quantities(let range):
        if let last = run, last.upperBound &+ 1 == range.lowerBound {
          run = last.lowerBound...range.upperBound
        } else {
          if let run { labels.append(label(run)) }
          run = range
        }
      }
    }
    if let run { labels.append(label(run)) }
    if let last = indices.last, regions[last] == .unknown { labels.append("unknown") }
    return labels
  }

  private func label(_ range: ClosedRange<Int>) -> String {
    let (lower, upper) = (range.lowerBound, range.upperBound)
    if lower == upper, let text = text(of: lower) { return "= \(text)" }
    let from = text(of: lower).map { (">=", $0) } ?? text(of: lower &- 1).map { (">", $0) }
    let to = text(of: upper).map { ("<=", $0) } ?? text(of: upper &+ 1).map { ("<", $0) }
    switch (from, to) {
    case (nil, nil): return "not unknown"
    case (let bound?, nil), (nil, let bound?): return "\(bound.0) \(bound.1)"
    case (let from?, let to?):
      if from.0 == ">=", to.0 == "<" { return "\(from.1)..\(to.1)" }
      return "\(from.0) \(from.1) and \(to.0) \(to.1)"
    }
  }

  /// How the policy writes a quantity, if it is a threshold.
  private func text(of quantity: Int) -> String? {
    var (low, high) = (0, thresholds.count)
    while low < high {
      let middle = (low + high) / 2
      if thresholds[middle].quantity < quantity { low = middle + 1 } else { high = middle }
    }
    return low < thresholds.count && thresholds[low].quantity == quantity ? thresholds[low].text : nil
  }
}

/// A range of a fact's values that no rule of a policy tells apart; one value on an axis.
package enum Region: Sendable, Hashable {
  /// The word at that index.
  case word(Int)
  /// The quantities in the range, both bounds included.
  case quantities(ClosedRange<Int>)
  /// A quantity that is not known.
  case unknown

  /// Whether this region includes all of another.
  func contains(_ other: Region) -> Bool {
    switch (self, other) {
    case (.word(let mine), .word(let theirs)): mine == theirs
    case (.quantities(let mine), .quantities(let theirs)):
      mine.lowerBound <= theirs.lowerBound && theirs.upperBound <= mine.upperBound
    case (.unknown, .unknown): true
    default: false
    }
  }
}

/// A quantity that a policy compares with, as a number and as the author wrote it.
package struct Threshold: Sendable, Hashable {
  package var quantity: Int
  package var text: String
}

/// A set of the regions of one axis, by their indices.
package struct RegionSet: Sendable, Hashable {
  private var words: [UInt64]

  /// The empty set for an axis.
  init(none count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

  /// All regions of an axis.
  init(all count: Int) { self.init(0..<count, of: count) }

  /// Some regions of an axis that has `count` regions.
  init(_ indices: some Sequence<Int>, of count: Int) {
    self.init(none: count)
    for index in indices { insert(index) }
  }

  mutating func insert(_ index: Int) { words[index / 64] |= 1 << UInt64(index % 64) }

  func contains(_ index: Int) -> Bool { words[index / 64] >> UInt64(index % 64) & 1 == 1 }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// Ascending.
  package var indices: [Int] {
    var indices: [Int] = []
    for (place, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        indices.append(place * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
    return indices
  }

  func isSubset(of other: RegionSet) -> Bool {
    zip(words, other.words).allSatisfy { $0 & ~$1 == 0 }
  }

  func intersection(_ other: RegionSet) -> RegionSet {
    var result = self
    for index in words.indices { result.words[index] &= other.words[index] }
    return result
  }

  func subtracting(_ other: RegionSet) -> RegionSet {
    var result = self
    for index in words.indices { result.words[index] &= ~other.words[index] }
    return result
  }
}

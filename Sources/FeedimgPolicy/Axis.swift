package import FeedimgModel

/// One dimension of a policy's states: a fact, split into the values that the policy can tell apart.
package struct Axis: Sendable, Hashable {
  package let fact: Fact
  /// The words; for a quantity, the regions between and at the thresholds in ascending order, then `unknown`.
  package let regions: [Region]
  /// How the policy first writes each threshold.
  private let texts: [Int: String]

  /// Splits a fact at the quantities that conditions mention, in any order.
  package init(_ fact: Fact, cutAt thresholds: [Threshold] = []) {
    self.fact = fact
    texts = Dictionary(thresholds.map { ($0.quantity, $0.text) }) { first, _ in first }
    switch fact.domain {
    case .words(let words):
      regions = words.indices.map(Region.word)
    case .quantity(let unit):
      var regions: [Region] = []
      var next = 0
      for cut in texts.keys.sorted() {
        // No quantity lies between 20 B and 21 B: an empty region would be a gap that no rule can close.
        if next < cut { regions.append(.quantities(next...(cut - 1))) }
        regions.append(.quantities(cut...cut))
        next = cut == .max ? cut : cut + 1
      }
      let maximum = unit.maximum ?? .max
      if next <= maximum, texts[.max] == nil { regions.append(.quantities(next...maximum)) }
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
    if lower == upper, let text = texts[lower] { return "= \(text)" }
    let from = texts[lower].map { (">=", $0) } ?? texts[lower &- 1].map { (">", $0) }
    let to = texts[upper].map { ("<=", $0) } ?? texts[upper &+ 1].map { ("<", $0) }
    switch (from, to) {
    case (nil, nil): return "not unknown"
    case (let bound?, nil), (nil, let bound?): return "\(bound.0) \(bound.1)"
    case (let from?, let to?):
      if from.0 == ">=", to.0 == "<" { return "\(from.1)..\(to.1)" }
      return "\(from.0) \(from.1) and \(to.0) \(to.1)"
    }
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

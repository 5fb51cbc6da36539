package import FeedimgModel

/// One dimension of a policy's states: a fact, and what of it the policy can tell apart.
package struct Axis: Sendable, Hashable {
  package let fact: Fact
  /// The words, or the regions between and at the thresholds in ascending order and then `unknown`.
  package let regions: [Region]
  /// Ascending, with the texts of the first to mention them.
  private let thresholds: [Threshold]

  /// Cuts a fact at the quantities that conditions mention.
  ///
  /// - Parameters:
  ///   - fact: The fact.
  ///   - thresholds: In any order; of equal ones the first gives the text.
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
        // Between 20 B and 21 B there is nothing: an empty region would be a gap that no rule can close.
        if next < cut { regions.append(.quantities(next...(cut - 1))) }
        regions.append(.quantities(cut...cut))
        next = cut == .max ? cut : cut + 1
      }
      let greatest = unit.greatest ?? .max
      if next <= greatest, cuts.last?.quantity != .max { regions.append(.quantities(next...greatest)) }
      self.regions = regions + [.unknown]
    }
  }

  /// The greatest quantity of each known region, for finding a quantity's region.
  var upperBounds: [Int] {
    regions.compactMap { if case .quantities(let range) = $0 { range.upperBound } else { nil } }
  }

  /// The name of one region, such as `wifi`, `< 20 MB` or `unknown`.
  package func label(_ index: Int) -> String {
    labels([index]).first ?? "unknown"
  }

  /// The names of several regions, given in ascending order; neighbouring quantities count as one.
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

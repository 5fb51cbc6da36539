import FeedimgModel

/// Why states cannot be enumerated.
struct TooManyStatesError: Error {
  /// `Int.max` for any number that does not fit.
  let count: Int
  /// The fact with the most regions.
  let fact: Fact?
  let regionCount: Int
}

extension TooManyStatesError {
  var message: String {
    let shown = count == .max ? "far more" : "\(count)"
    let cause = fact.map { ", mostly by `\($0.name)` with \(regionCount) parts" } ?? ""
    return "\(shown) states, over the limit of \(StateSpace.greatestCount)\(cause)"
  }
}

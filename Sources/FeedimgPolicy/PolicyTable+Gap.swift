extension PolicyTable {
  /// The error for states that no rule covers.
  func gapError(_ states: [Int], in space: StateSpace) -> PolicyError {
    let boxes = space.partition(states).map { space.text($0) }
    let count = "\(states.count) \(states.count == 1 ? "state" : "states")"
    return PolicyError(file: fileName, "no rule for: \(boxes.joined(separator: "; ")) (\(count))")
  }
}

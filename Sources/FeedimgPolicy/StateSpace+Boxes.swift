import FeedimgModel

extension StateSpace {
  /// Disjoint boxes that cover exactly some states, given in ascending order: few, not always the fewest.
  package func partition(_ states: [Int]) -> [Box] {
    slices(states[...], axis: 0).map { Box(choices: $0) }
  }

  /// A box for each class of equal slices along an axis, and so on for the axes after it.
  private func slices(_ states: ArraySlice<Int>, axis: Int) -> [[RegionSet]] {
    guard !states.isEmpty else { return [] }
    guard axis < axes.count else { return [[]] }
    let count = axes[axis].regions.count
    var order: [[Int]] = []
    var regions: [[Int]: RegionSet] = [:]
    var rest = states
    while let first = rest.first {
      let region = first / strides[axis]
      let end = rest.firstIndex { $0 / strides[axis] != region } ?? rest.endIndex
      let slice = rest[..<end].map { $0 - region * strides[axis] }
      if regions[slice] == nil { order.append(slice) }
      regions[slice, default: RegionSet(none: count)].insert(region)
      rest = rest[end...]
    }
    return order.flatMap { slice in
      let choice = regions[slice] ?? RegionSet(none: count)
      return slices(slice[...], axis: axis + 1).map { [choice] + $0 }
    }
  }

  /// A box in words, such as `network ethernet/other, original remote/none`, or `every state`.
  package func text(_ box: Box) -> String {
    let parts = zip(axes, box.choices).compactMap { axis, choice in
      choice.count == axis.regions.count
        ? nil : axis.fact.name + " " + axis.labels(choice.indices).joined(separator: "/")
    }
    return parts.isEmpty ? "every state" : parts.joined(separator: ", ")
  }
}

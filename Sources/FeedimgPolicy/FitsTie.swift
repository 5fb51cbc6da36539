import FeedimgModel

/// Tells which combinations of `size`, `budget left` and the `fits` derived from them can be.
///
/// Without it the check would ask for rules, and count states, that no situation reaches.
struct FitsTie: Sendable, Hashable {
  private let fits: Int
  private let size: Int?
  private let budgetLeft: Int?

  /// What is known of a quantity in a state.
  private enum Knowledge {
    case unknown
    case between(ClosedRange<Int>)
    /// The policy does not ask about it.
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

  /// Whether a situation can be at those places of the axes.
  func isPossible(_ coordinates: [Int], on axes: [Axis]) -> Bool {
    let size = knowledge(size, coordinates, axes)
    let budgetLeft = knowledge(budgetLeft, coordinates, axes)
    guard coordinates[fits] != 2 else { return size.canBeUnknown || budgetLeft.canBeUnknown }
    guard let size = size.range, let budgetLeft = budgetLeft.range else { return false }
    return coordinates[fits] == 1
      ? size.lowerBound <= budgetLeft.upperBound / 100 : size.upperBound > budgetLeft.lowerBound / 100
  }

  /// Chooses quantities within their regions such that `fits` comes out as the state says.
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

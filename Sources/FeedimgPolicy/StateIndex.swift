import FeedimgModel

/// Finds the number of a situation's state without a loop over the facts that most policies leave out.
struct StateIndex: Sendable {
  private var network = 0
  private var metered = 0
  private var roaming = 0
  private var dataSaver = 0
  private var alwaysOriginal = 0
  private var original = 0
  private var thumbnail = 0
  private var fits = 0
  /// Whether the facts above, ``fits`` excepted, are all that the policy asks about.
  private var isPlain = true
  /// Facts that are quantities; empty for most policies.
  private var quantities: [Scale] = []
  /// The greatest quantity of each known region but the last, for one scale after another.
  private var bounds: [Int] = []

  /// Facts of the host application, with their strides; empty for most policies.
  private var hostFacts: [(fact: HostFact, stride: Int)] = []

  /// The regions of a quantity; without references, so that reading one counts none.
  private struct Scale: Sendable {
    let quantity: Quantity
    let stride: Int
    /// Where its part of ``bounds`` begins.
    let start: Int
    let end: Int
    /// The index of the region `unknown`.
    let unknown: Int
  }

  private enum Quantity: Sendable {
    case size
    case budgetLeft
    case bandwidth
    case battery

    func value(in situation: Situation) -> Int? {
      switch self {
      case .size: situation.size?.bytes
      case .budgetLeft: situation.budgetLeft?.bytes
      case .bandwidth: situation.bandwidth
      case .battery: situation.battery
      }
    }
  }

  init(_ space: StateSpace) {
    for (axis, stride) in zip(space.axes, space.strides) {
      switch axis.fact {
      case .network: network = stride
      case .metered: metered = stride
      case .roaming: roaming = stride
      case .dataSaver: dataSaver = stride
      case .alwaysOriginal: alwaysOriginal = stride
      case .original: original = stride
      case .thumbnail: thumbnail = stride
      case .fits:
        fits = stride
        isPlain = false
      case .size: append(.size, axis, stride)
      case .budgetLeft: append(.budgetLeft, axis, stride)
      case .bandwidth: append(.bandwidth, axis, stride)
      case .battery: append(.battery, axis, stride)
      case .host(let fact):
        isPlain = false
        hostFacts.append((fact, stride))
      }
    }
  }

  private mutating func append(_ quantity: Quantity, _ axis: Axis, _ stride: Int) {
    let start = bounds.count
    bounds += axis.upperBounds.dropLast()
    let unknown = axis.regions.count - 1
    quantities.append(
      Scale(quantity: quantity, stride: stride, start: start, end: bounds.count, unknown: unknown)
    )
    isPlain = false
  }

  /// The same as ``StateSpace/state(of:)`` of the space.
  ///
  /// Nothing can overflow: the states of a space are counted, and their number is bounded.
  @inline(__always)
  func state(of situation: Situation) -> Int {
    // A fact that the policy leaves out has a stride of zero.
    let state =
      situation.network.ordinal &* network &+ situation.metered.ordinal &* metered
      &+ (situation.isRoaming ? roaming : 0) &+ (situation.savesData ? dataSaver : 0)
      &+ (situation.alwaysOriginal ? alwaysOriginal : 0)
      &+ situation.original.ordinal &* original &+ situation.thumbnail.ordinal &* thumbnail
    return isPlain ? state : state &+ rest(of: situation)
  }

  /// What the facts add that few policies ask about.
  private func rest(of situation: Situation) -> Int {
    var state = situation.fitsOrdinal &* fits
    for scale in quantities {
      var region = scale.unknown
      if let quantity = scale.quantity.value(in: situation) {
        var place = scale.start
        while place < scale.end, bounds[place] < quantity { place &+= 1 }
        region = place &- scale.start
      }
      state &+= region &* scale.stride
    }
    for (fact, stride) in hostFacts { state &+= situation.ordinal(of: fact) &* stride }
    return state
  }
}

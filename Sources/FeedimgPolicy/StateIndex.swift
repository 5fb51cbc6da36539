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
  /// Facts that are quantities; empty for most policies.
  private var quantities: [Scale] = []

  /// Facts of the host application, with their strides; empty for most policies.
  private var hostFacts: [(fact: HostFact, stride: Int)] = []

  /// The regions of a quantity.
  private struct Scale: Sendable {
    let fact: Fact
    let stride: Int
    /// The greatest quantity of each known region but the last.
    let bounds: [Int]
    /// The index of the region `unknown`.
    let unknown: Int
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
      case .fits: fits = stride
      case .size, .budgetLeft, .bandwidth, .battery:
        let bounds = Array(axis.upperBounds.dropLast())
        let unknown = axis.regions.count - 1
        quantities.append(Scale(fact: axis.fact, stride: stride, bounds: bounds, unknown: unknown))
      case .host(let fact):
        hostFacts.append((fact, stride))
      }
    }
  }

  /// The same as ``StateSpace/state(of:)`` of the space.
  func state(of situation: Situation) -> Int {
    // A fact that the policy leaves out has a stride of zero.
    var state =
      situation.network.ordinal * network + situation.metered.ordinal * metered
      + (situation.isRoaming ? roaming : 0) + (situation.savesData ? dataSaver : 0)
      + (situation.alwaysOriginal ? alwaysOriginal : 0)
      + situation.original.ordinal * original + situation.thumbnail.ordinal * thumbnail
    if fits > 0 { state += situation.fitsOrdinal * fits }
    for scale in quantities {
      var region = scale.unknown
      if let quantity = scale.fact.quantity(in: situation) {
        region = 0
        while region < scale.bounds.count, scale.bounds[region] < quantity { region += 1 }
      }
      state += region * scale.stride
    }
    for (fact, stride) in hostFacts { state += situation.ordinal(of: fact) * stride }
    return state
  }
}

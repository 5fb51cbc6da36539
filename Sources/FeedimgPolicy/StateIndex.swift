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
  private var size = Scale()
  private var budgetLeft = Scale()
  private var bandwidth = Scale()
  private var battery = Scale()

  /// Facts of the host application, with their strides; empty for most policies.
  private var hostFacts: [(fact: HostFact, stride: Int)] = []

  /// The regions of a quantity; those of a fact that the policy leaves out count nothing.
  private struct Scale: Sendable {
    /// How many thresholds lie in place; a policy with more of them for one fact is a rare one.
    static let roomInPlace = 8

    private var stride = 0
    /// The index of the region `unknown`.
    private var unknown = 0
    /// The greatest quantity of each known region but the last, filled up with what nothing exceeds.
    private var bounds = InlineArray<8, Int>(repeating: .max)
    /// Those for which there is no room in place.
    private var moreBounds: [Int] = []

    init() {}

    init(_ axis: Axis, stride: Int) {
      self.stride = stride
      unknown = axis.regions.count - 1
      for (place, bound) in axis.upperBounds.dropLast().enumerated() {
        if place < Self.roomInPlace { bounds[place] = bound } else { moreBounds.append(bound) }
      }
    }

    /// What a quantity adds to the number of the state.
    ///
    /// It counts all thresholds instead of stopping at the right one: a guess that the processor gets wrong costs
    /// more than they do.
    @inline(__always)
    func part(of quantity: Int?) -> Int {
      guard stride != 0 else { return 0 }
      guard let quantity else { return unknown &* stride }
      var region = 0
      for place in 0..<Self.roomInPlace { region &+= bounds[place] < quantity ? 1 : 0 }
      if region == Self.roomInPlace { region &+= moreBounds.count { $0 < quantity } }
      return region &* stride
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
      case .size: size = quantity(axis, stride)
      case .budgetLeft: budgetLeft = quantity(axis, stride)
      case .bandwidth: bandwidth = quantity(axis, stride)
      case .battery: battery = quantity(axis, stride)
      case .host(let fact):
        isPlain = false
        hostFacts.append((fact, stride))
      }
    }
  }

  private mutating func quantity(_ axis: Axis, _ stride: Int) -> Scale {
    isPlain = false
    return Scale(axis, stride: stride)
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
    var state =
      size.part(of: situation.size?.bytes) &+ budgetLeft.part(of: situation.budgetLeft?.bytes)
      &+ bandwidth.part(of: situation.bandwidth) &+ battery.part(of: situation.battery)
    if fits != 0 { state &+= situation.fitsOrdinal &* fits }
    for (fact, stride) in hostFacts { state &+= situation.ordinal(of: fact) &* stride }
    return state
  }
}

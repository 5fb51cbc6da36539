import FeedimgModel

/// Finds the number of a situation's state without a loop over the facts that most policies leave out.
///
/// A class, as a copy of its many numbers for each decision would take longer than what is done with them.
final class StateIndex: Sendable {
  // A fact that the policy leaves out has a stride of zero.
  private let network: Int
  private let metered: Int
  /// What the facts that are yes or no add together, by which of them are yes; see ``switches(of:)``.
  private let switches: InlineArray<8, Int>
  private let original: Int
  private let thumbnail: Int
  private let fits: Int
  /// Whether the facts above, ``fits`` excepted, are all that the policy asks about.
  private let isPlain: Bool
  private let thresholds: [Thresholds]
  /// Facts of the host application, with their strides; empty for most policies.
  private let hostFacts: [(fact: HostFact, stride: Int)]

  /// Up to four thresholds of a quantity; one with more has several of these.
  private struct Thresholds: Sendable {
    let quantity: Quantity
    let stride: Int
    // The greatest quantity of each known region, filled up with what nothing exceeds. That of the last one is below
    // `Int.max`, which stands for `unknown`, the region above all others. They stand here and not in an array, as
    // following it takes longer than all the rest.
    let first: Int
    let second: Int
    let third: Int
    let fourth: Int

    /// What they add to the number of the state.
    ///
    /// All are counted instead of stopping at the right one, an unknown quantity is taken for the greatest of all, and
    /// the sign of a difference says which of two is less: a guess that the processor gets wrong costs more.
    @inline(__always)
    func part(in situation: Situation) -> Int {
      let value =
        switch quantity {
        case .size: situation.sizeBytes
        case .budgetLeft: situation.budgetLeftBytes
        case .bandwidth: situation.bandwidthBits
        case .battery: situation.batteryPercent
        }
      // No difference overflows between what is not negative; its sign, spread over all bits, is -1 or 0.
      let exceeded =
        (first &- value) >> 63 &+ (second &- value) >> 63 &+ (third &- value) >> 63 &+ (fourth &- value) >> 63
      return 0 &- exceeded &* stride
    }
  }

  private enum Quantity {
    case size
    case budgetLeft
    case bandwidth
    case battery
  }

  init(_ space: StateSpace) {
    var strides: [Fact: Int] = [:]
    var thresholds: [Thresholds] = []
    var hostFacts: [(fact: HostFact, stride: Int)] = []
    for (axis, stride) in zip(space.axes, space.strides) {
      switch axis.fact {
      case .size: thresholds += Self.thresholds(of: .size, along: axis, stride)
      case .budgetLeft: thresholds += Self.thresholds(of: .budgetLeft, along: axis, stride)
      case .bandwidth: thresholds += Self.thresholds(of: .bandwidth, along: axis, stride)
      case .battery: thresholds += Self.thresholds(of: .battery, along: axis, stride)
      case .host(let fact): hostFacts.append((fact, stride))
      default: strides[axis.fact] = stride
      }
    }
    network = strides[.network] ?? 0
    metered = strides[.metered] ?? 0
    let yes = [Fact.roaming, .dataSaver, .alwaysOriginal].map { strides[$0] ?? 0 }
    switches = InlineArray { which in yes.indices.reduce(0) { $0 + (which >> $1 & 1) * yes[$1] } }
    original = strides[.original] ?? 0
    thumbnail = strides[.thumbnail] ?? 0
    fits = strides[.fits] ?? 0
    isPlain = fits == 0 && thresholds.isEmpty && hostFacts.isEmpty
    (self.thresholds, self.hostFacts) = (thresholds, hostFacts)
  }

  private static func thresholds(of quantity: Quantity, along axis: Axis, _ step: Int) -> [Thresholds] {
    let bounds = axis.upperBounds.dropLast() + [.max - 1]
    return stride(from: 0, to: bounds.count, by: 4).map { start in
      let four = Array(bounds[start...].prefix(4)) + repeatElement(.max, count: 4)
      return Thresholds(
        quantity: quantity,
        stride: step,
        first: four[0],
        second: four[1],
        third: four[2],
        fourth: four[3]
      )
    }
  }

  /// The same as ``StateSpace/state(of:)`` of the space.
  ///
  /// Nothing can overflow: the states of a space are counted, and their number is bounded.
  @inline(__always)
  func state(of situation: borrowing Situation) -> Int {
    let state =
      situation.network.ordinal &* network &+ situation.metered.ordinal &* metered
      &+ switches[Self.switches(of: situation)]
      &+ situation.original.ordinal &* original &+ situation.thumbnail.ordinal &* thumbnail
    return isPlain ? state : state &+ rest(of: situation)
  }

  /// One bit for each fact that is yes or no: roaming, data saver, always original.
  ///
  /// They choose what to add from a table, as asking one after the other is a guess each for the processor.
  @inline(__always)
  private static func switches(of situation: Situation) -> Int {
    (situation.isRoaming ? 1 : 0) | (situation.savesData ? 2 : 0) | (situation.alwaysOriginal ? 4 : 0)
  }

  /// What the facts add that few policies ask about.
  private func rest(of situation: Situation) -> Int {
    var state = fits == 0 ? 0 : situation.fitsOrdinal &* fits
    for four in thresholds { state &+= four.part(in: situation) }
    for (fact, stride) in hostFacts { state &+= situation.ordinal(of: fact) &* stride }
    return state
  }
}

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
  // The quantities by name, as asking an array which is meant is a jump for each that takes longer than the counting.
  private let size: Thresholds
  private let budgetLeft: Thresholds
  private let bandwidth: Thresholds
  private let battery: Thresholds
  /// Whether the policy asks about a quantity.
  private let asksQuantities: Bool
  /// Whether it asks about anything of what follows.
  private let asksMore: Bool
  private let fits: Int
  /// The seventh threshold of a quantity and those above, for the few policies that have so many.
  private let moreThresholds: [(quantity: Fact, thresholds: Thresholds)]
  /// Facts of the host application, with their strides; empty for most policies.
  private let hostFacts: [(fact: HostFact, stride: Int)]

  /// Up to six thresholds of a quantity; one with more has several of these.
  private struct Thresholds: Sendable {
    /// Zero where the policy leaves the quantity out.
    let stride: Int
    // The greatest quantity of each known region, filled up with what nothing exceeds. That of the last one is below
    // `Int.max`, which stands for `unknown`, the region above all others. They stand here and not in an array, as
    // following it takes longer than all the rest.
    let first: UInt
    let second: UInt
    let third: UInt
    let fourth: UInt
    let fifth: UInt
    let sixth: UInt

    static let none = Thresholds(stride: 0, bounds: [])

    init(stride: Int, bounds: some Sequence<Int>) {
      let six = bounds.prefix(6).map { UInt(bitPattern: $0) } + repeatElement(.max, count: 6)
      self.stride = stride
      (first, second, third, fourth, fifth, sixth) = (six[0], six[1], six[2], six[3], six[4], six[5])
    }

    /// What they add to the number of the state.
    ///
    /// All are counted instead of stopping at the right one, and an unknown quantity is taken for the greatest of all:
    /// a guess that the processor gets wrong costs more.
    @inline(__always)
    func part(of quantity: Int) -> Int {
      let quantity = UInt(bitPattern: quantity)
      let exceeded =
        Self.one(first < quantity) &+ Self.one(second < quantity) &+ Self.one(third < quantity)
        &+ Self.one(fourth < quantity) &+ Self.one(fifth < quantity) &+ Self.one(sixth < quantity)
      return exceeded &* stride
    }

    /// One for yes, from the byte that a `Bool` is: asked by `?:`, it becomes a jump.
    @inline(__always)
    private static func one(_ exceeded: Bool) -> Int { Int(unsafeBitCast(exceeded, to: UInt8.self)) }
  }

  init(_ space: StateSpace) {
    var strides: [Fact: Int] = [:]
    var thresholds: [Fact: Thresholds] = [:]
    var moreThresholds: [(quantity: Fact, thresholds: Thresholds)] = []
    var hostFacts: [(fact: HostFact, stride: Int)] = []
    for (axis, step) in zip(space.axes, space.strides) {
      switch axis.fact {
      case .size, .budgetLeft, .bandwidth, .battery:
        let bounds = axis.upperBounds.dropLast() + [.max - 1]
        thresholds[axis.fact] = Thresholds(stride: step, bounds: bounds)
        for start in stride(from: 6, to: bounds.count, by: 6) {
          moreThresholds.append((axis.fact, Thresholds(stride: step, bounds: bounds[start...])))
        }
      case .host(let fact): hostFacts.append((fact, step))
      default: strides[axis.fact] = step
      }
    }
    network = strides[.network] ?? 0
    metered = strides[.metered] ?? 0
    let yes = [Fact.roaming, .dataSaver, .alwaysOriginal].map { strides[$0] ?? 0 }
    switches = InlineArray { which in yes.indices.reduce(0) { $0 + (which >> $1 & 1) * yes[$1] } }
    original = strides[.original] ?? 0
    thumbnail = strides[.thumbnail] ?? 0
    size = thresholds[.size] ?? .none
    budgetLeft = thresholds[.budgetLeft] ?? .none
    bandwidth = thresholds[.bandwidth] ?? .none
    battery = thresholds[.battery] ?? .none
    asksQuantities = !thresholds.isEmpty
    fits = strides[.fits] ?? 0
    (self.moreThresholds, self.hostFacts) = (moreThresholds, hostFacts)
    asksMore = fits != 0 || !moreThresholds.isEmpty || !hostFacts.isEmpty
  }

  /// The same as ``StateSpace/state(of:)`` of the space.
  ///
  /// Nothing can overflow: the states of a space are counted, and their number is bounded.
  @inline(__always)
  func state(of situation: borrowing Situation) -> Int {
    var state =
      situation.network.ordinal &* network &+ situation.metered.ordinal &* metered
      &+ switches[Self.switches(of: situation)]
      &+ situation.original.ordinal &* original &+ situation.thumbnail.ordinal &* thumbnail
    if asksQuantities { state &+= quantities(of: situation) }
    return asksMore ? state &+ rest(of: situation) : state
  }

  /// One bit for each fact that is yes or no: roaming, data saver, always original.
  ///
  /// They choose what to add from a table, as asking one after the other is a guess each for the processor.
  @inline(__always)
  private static func switches(of situation: Situation) -> Int {
    (situation.isRoaming ? 1 : 0) | (situation.savesData ? 2 : 0) | (situation.alwaysOriginal ? 4 : 0)
  }

  /// What the quantities add.
  @inline(__always)
  private func quantities(of situation: borrowing Situation) -> Int {
    var state = 0
    if size.stride != 0 { state &+= size.part(of: situation.sizeBytes) }
    if budgetLeft.stride != 0 { state &+= budgetLeft.part(of: situation.budgetLeftBytes) }
    if bandwidth.stride != 0 { state &+= bandwidth.part(of: situation.bandwidthBits) }
    if battery.stride != 0 { state &+= battery.part(of: situation.batteryPercent) }
    return state
  }

  /// What the facts add that few policies ask about.
  @inline(never)
  private func rest(of situation: Situation) -> Int {
    var state = fits == 0 ? 0 : situation.fitsOrdinal &* fits
    for (quantity, six) in moreThresholds {
      state &+= six.part(of: quantity.quantity(in: situation) ?? .max)
    }
    for (fact, stride) in hostFacts { state &+= situation.ordinal(of: fact) &* stride }
    return state
  }
}

import FeedimgModel

/// Decides when a change of the network is published (pure).
///
/// A dearer network is published at once, so that no byte too many is spent. A cheaper one waits a little, and being
/// offline waits longer, as both often pass: a handover, a moved cable, a kernel that reports a carrier late.
struct PublicationSchedule {
  /// How long the network must stay cheaper.
  static let delayOfCheaper = Duration.milliseconds(500)
  /// How long there must be no network.
  static let delayOfOffline = Duration.milliseconds(1250)

  /// The latest published state.
  private(set) var published: NetworkState?
  private var pending: (state: NetworkState, due: Duration)?

  /// When to publish, unless the network changes before.
  var due: Duration? { pending?.due }

  /// Takes a new state of the network.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - now: The time, counted from any fixed moment.
  /// - Returns: The state to publish now; nil if it is not new, or too early.
  mutating func observe(_ state: NetworkState, at now: Duration) -> NetworkState? {
    guard let published else { return publish(state) }
    guard state != published else {
      pending = nil
      return nil
    }
    guard let delay = Self.delay(from: published, to: state) else { return publish(state) }
    // The cost must stay the same for this time; details may change.
    let isSameChange = pending.map { $0.state.cost == state.cost } ?? false
    pending = (state, isSameChange ? pending?.due ?? now + delay : now + delay)
    return nil
  }

  /// The state that has waited long enough.
  mutating func expire(at now: Duration) -> NetworkState? {
    guard let pending, pending.due <= now else { return nil }
    return publish(pending.state)
  }

  private mutating func publish(_ state: NetworkState) -> NetworkState {
    published = state
    pending = nil
    return state
  }

  /// How long a change waits; nil if it is published at once.
  private static func delay(from old: NetworkState, to new: NetworkState) -> Duration? {
    if new.kind == .offline { return delayOfOffline }
    if old.kind == .offline { return nil }
    return new.cost.isLower(than: old.cost) ? delayOfCheaper : nil
  }
}

/// The cost of a network, in the respects that policies know.
private struct NetworkCost: Equatable {
  var isOffline: Bool
  var metered: Int
  var cellular: Int
  var roaming: Int

  /// Whether it is lower in one respect at least, and higher in none.
  func isLower(than other: NetworkCost) -> Bool {
    self != other && metered <= other.metered && cellular <= other.cellular && roaming <= other.roaming
  }
}

extension NetworkState {
  fileprivate var cost: NetworkCost {
    NetworkCost(
      isOffline: kind == .offline,
      metered: metered.rank,
      cellular: kind == .cellular ? 1 : 0,
      roaming: isRoaming ? 1 : 0
    )
  }
}

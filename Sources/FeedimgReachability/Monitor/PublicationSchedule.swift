import FeedimgModel

/// Decides when a change of the network is told.
///
/// What costs more is told at once, so that not one byte too many is spent; what costs less a little later,
/// and being offline later still, since both often pass: a handover, a cable that is moved, a kernel that
/// tells late of a carrier.
struct PublicationSchedule {
  /// For how long the network stays cheaper before that is believed.
  static let delayOfCheaper = Duration.milliseconds(500)
  /// For how long there is no network before that is believed.
  static let delayOfOffline = Duration.milliseconds(1250)

  /// What was told last.
  private(set) var published: NetworkState?
  private var pending: (state: NetworkState, due: Duration)?

  /// When something is to be told, unless the network changes before.
  var due: Duration? { pending?.due }

  /// Takes note of the state of the network.
  ///
  /// - Parameters:
  ///   - state: What was seen.
  ///   - now: The time, counted from any fixed moment.
  /// - Returns: What to tell now; nil where it is nothing new, or too early.
  mutating func observe(_ state: NetworkState, at now: Duration) -> NetworkState? {
    guard let published else { return publish(state) }
    guard state != published else {
      pending = nil
      return nil
    }
    guard let delay = Self.delay(from: published, to: state) else { return publish(state) }
    // What stays as good or bad for long enough is told, though details change meanwhile.
    let isSameChange = pending.map { $0.state.cost == state.cost } ?? false
    pending = (state, isSameChange ? pending?.due ?? now + delay : now + delay)
    return nil
  }

  /// Tells what has been waiting for long enough.
  mutating func expire(at now: Duration) -> NetworkState? {
    guard let pending, pending.due <= now else { return nil }
    return publish(pending.state)
  }

  private mutating func publish(_ state: NetworkState) -> NetworkState {
    published = state
    pending = nil
    return state
  }

  /// How long to wait before a change is told; nil where it is told at once.
  private static func delay(from old: NetworkState, to new: NetworkState) -> Duration? {
    if new.kind == .offline { return delayOfOffline }
    if old.kind == .offline { return nil }
    return new.cost.isLower(than: old.cost) ? delayOfCheaper : nil
  }
}

/// How dear a network is, in the respects that policies know.
private struct NetworkCost: Equatable {
  var isOffline: Bool
  var metered: Int
  var cellular: Int
  var roaming: Int

  /// Whether it is lower in some respect, and higher in none.
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

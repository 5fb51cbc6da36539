import FeedimgModel

/// Decides when the monitor publishes a change of the network.
///
/// Publishes a dearer network at once, to avoid costs. A cheaper network waits a little and a lost one
/// longer, because both are often brief: a handover, a moved cable, or a carrier that the kernel reports
/// late.
struct PublicationSchedule {
  /// The time for which the network must stay cheaper.
  static let delayOfCheaper = Duration.milliseconds(500)
  /// The time for which there must be no network.
  static let delayOfOffline = Duration.milliseconds(1250)

  /// The latest published state.
  private(set) var published: NetworkState?
  private var pending: (state: NetworkState, due: Duration)?

  /// When to publish the pending state, unless the network changes before.
  var due: Duration? { pending?.due }

  /// Records a new state, and returns it to publish now; nil if it is not new, or must wait.
  ///
  /// Times are since any fixed moment.
  mutating func observe(_ state: NetworkState, at now: Duration) -> NetworkState? {
    guard let published else { return publish(state) }
    guard state != published else {
      pending = nil
      return nil
    }
    guard let delay = Self.delay(from: published, to: state) else { return publish(state) }
    // The cost must stay the same during the wait; details may change.
    let isSameChange = pending.map { $0.state.costs == state.costs } ?? false
    pending = (state, isSameChange ? pending?.due ?? now + delay : now + delay)
    return nil
  }

  /// The pending state, if it has waited long enough.
  mutating func expire(at now: Duration) -> NetworkState? {
    guard let pending, pending.due <= now else { return nil }
    return publish(pending.state)
  }

  private mutating func publish(_ state: NetworkState) -> NetworkState {
    published = state
    pending = nil
    return state
  }

  /// The wait before a change is published; nil for none.
  private static func delay(from old: NetworkState, to new: NetworkState) -> Duration? {
    if new.kind == .offline { return delayOfOffline }
    if old.kind == .offline { return nil }
    // Lower in at least one respect, and higher in none.
    let isCheaper = new.costs != old.costs && zip(new.costs, old.costs).allSatisfy { $0 <= $1 }
    return isCheaper ? delayOfCheaper : nil
  }
}

extension NetworkState {
  /// The cost of a network in the respects that policies use.
  fileprivate var costs: [Int] {
    [kind == .offline ? 1 : 0, metered.rank, kind == .cellular ? 1 : 0, isRoaming ? 1 : 0]
  }
}

import FeedimgSystem
import NIOCore
import Synchronization

/// The open connections: counts, limits and closes them.
final class ConnectionRegister: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isDraining = false
    /// Whether a check for idleness is scheduled.
    var isCheckDue = false
  }

  /// Guards the open connections; no channel is called inside.
  private let state = Mutex(State())
  private let limit: Int
  private let bodyLimit: Int
  private let onIdle: @Sendable () -> Void
  /// The sum of the bodies of all requests that are under way.
  private let heldBytes = Atomic(0)

  /// - Parameters:
  ///   - limit: The number of open connections.
  ///   - bodyLimit: The sum of the bodies of all requests, in bytes.
  ///   - onIdle: Called a second after the last connection has closed.
  init(limit: Int, bodyLimit: Int, onIdle: @escaping @Sendable () -> Void = {}) {
    (self.limit, self.bodyLimit, self.onIdle) = (limit, bodyLimit, onIdle)
  }

  /// The number of open connections.
  var count: Int { state.withLock { $0.channels.count } }

  /// Whether the service is stopping, so that each connection closes after its response.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Reserves room for a part of a request body; false where the limit would be exceeded.
  func hold(_ count: Int) -> Bool {
    guard heldBytes.add(count, ordering: .relaxed).newValue > bodyLimit else { return true }
    release(count)
    return false
  }

  /// Releases room for a request body.
  func release(_ count: Int) { heldBytes.subtract(count, ordering: .relaxed) }

  /// Adds a connection; false if there are too many.
  func admit(_ channel: any Channel) -> Bool {
    let isAdmitted = state.withLock { state in
      guard state.channels.count < limit, !state.isDraining else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
    if isAdmitted { channel.closeFuture.whenComplete { [weak self] _ in self?.remove(channel) } }
    return isAdmitted
  }

  /// Happens when no connection is open after ``drain()``.
  let emptied = Event()

  /// Has all connections close after their current responses.
  func drain() {
    let channels = state.withLock { state in
      state.isDraining = true
      return Array(state.channels.values)
    }
    if channels.isEmpty { emptied.signal() }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Closes all connections at once.
  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  private func remove(_ channel: any Channel) {
    let (isLast, isDue) = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = nil
      guard state.channels.isEmpty else { return (false, false) }
      defer { state.isCheckDue = true }
      return (state.isDraining, !state.isCheckDue)
    }
    if isLast { return emptied.signal() }
    guard isDue else { return }
    // NIO would wake the idle process for a cancelled deadline; this earlier timer replaces it.
    channel.eventLoop.scheduleTask(in: Self.idleDelay) { self.checkIdle() }
  }

  private static let idleDelay = TimeAmount.seconds(1)

  private func checkIdle() {
    let isIdle = state.withLock { state in
      state.isCheckDue = false
      return state.channels.isEmpty
    }
    if isIdle { onIdle() }
  }
}

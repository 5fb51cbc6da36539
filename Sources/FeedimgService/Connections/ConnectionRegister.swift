import NIOCore
import Synchronization

/// The open connections: counts, limits and closes them.
final class ConnectionRegister: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isDraining = false
    /// The bytes copied since memory was last returned to the system, estimated.
    var copied = 0
    /// Whether a check for idleness is scheduled.
    var isCheckDue = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// Guards the open connections; no channel is called inside.
  private let state = Mutex(State())
  private let limit: Int
  private let bodyLimit: Int
  private let releaseMemory: @Sendable () -> Void
  private let rest: @Sendable () -> Void
  /// The bodies that are sent while they are being received.
  let streams = StreamingBodies()
  /// The sum of the bodies of all requests that are under way.
  private let heldBytes = Atomic(0)

  /// - Parameters:
  ///   - limit: The number of open connections.
  ///   - bodyLimit: The sum of the bodies of all requests, in bytes.
  ///   - releaseMemory: Called a second after the last connection has closed, if returning free memory is worth it.
  ///   - rest: Called each time, a second after the last connection has closed.
  init(
    limit: Int,
    bodyLimit: Int,
    releaseMemory: @escaping @Sendable () -> Void = {},
    rest: @escaping @Sendable () -> Void = {}
  ) {
    self.limit = limit
    self.bodyLimit = bodyLimit
    self.releaseMemory = releaseMemory
    self.rest = rest
  }

  /// The number of open connections.
  var count: Int { state.withLock { $0.channels.count } }

  /// Whether the service is stopping, so that each connection closes after its response.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Reserves room for a part of a request body.
  ///
  /// - Returns: False where the limit would be exceeded.
  func hold(_ count: Int) -> Bool {
    guard heldBytes.add(count, ordering: .relaxed).newValue > bodyLimit else { return true }
    release(count)
    return false
  }

  /// Releases room for a request body.
  func release(_ count: Int) { heldBytes.subtract(count, ordering: .relaxed) }

  /// Counts bytes that were copied for a client.
  func noteCopied(_ count: Int) { state.withLock { $0.copied += count } }

  /// Adds a connection, unless there are too many.
  ///
  /// - Returns: Whether it was added.
  func admit(_ channel: any Channel) -> Bool {
    let isAdmitted = state.withLock { state in
      guard state.channels.count < limit, !state.isDraining else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
    if isAdmitted { channel.closeFuture.whenComplete { [weak self] _ in self?.remove(channel) } }
    return isAdmitted
  }

  /// Has all connections close after their current responses.
  func drain() {
    let channels = state.withLock { state in
      state.isDraining = true
      return Array(state.channels.values)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Returns when no connection is open.
  func empty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if state.channels.isEmpty { return true }
        state.waiter = continuation
        return false
      }
      if isEmpty { continuation.resume() }
    }
  }

  /// Closes all connections at once.
  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  private func remove(_ channel: any Channel) {
    let (waiter, isFirst) = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = nil
      state.copied += Self.connectionCost
      guard state.channels.isEmpty else { return (nil as CheckedContinuation<Void, Never>?, false) }
      defer { (state.waiter, state.isCheckDue) = (nil, true) }
      return (state.waiter, !state.isCheckDue && !state.isDraining)
    }
    if let waiter { return waiter.resume() }
    guard isFirst else { return }
    // NIO would wake the idle process for a cancelled deadline; this earlier timer replaces it.
    channel.eventLoop.scheduleTask(in: Self.idleDelay) { self.checkIdle() }
  }

  /// The memory that a closed connection may leave behind, in bytes.
  private static let connectionCost = 16 << 10
  /// The least memory that is worth returning, in bytes.
  private static let minimumRelease = 256 << 10
  private static let idleDelay = TimeAmount.seconds(1)

  private func checkIdle() {
    let (isEmpty, isWorthRelease) = state.withLock { state in
      state.isCheckDue = false
      guard state.channels.isEmpty else { return (false, false) }
      guard state.copied >= Self.minimumRelease else { return (true, false) }
      state.copied = 0
      return (true, true)
    }
    if isEmpty { rest() }
    if isWorthRelease { releaseMemory() }
  }
}

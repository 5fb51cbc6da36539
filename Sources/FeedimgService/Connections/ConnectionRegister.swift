import NIOCore
import Synchronization

/// The connections that are open, so that they can be counted, limited and ended.
final class ConnectionRegister: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isDraining = false
    /// What has passed through memory since it was last given back, in bytes, estimated.
    var passed = 0
    /// Whether it is looked soon whether nobody is there.
    var isLooking = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// Guards which connections are open; nothing is sent to them inside.
  private let state = Mutex(State())
  private let limit: Int
  private let bodyLimit: Int
  private let giveBack: @Sendable () -> Void
  private let rest: @Sendable () -> Void
  /// What is sent while it comes.
  let arriving = ArrivingBodies()
  /// What the bodies of all requests that are under way take.
  private let heldBytes = Atomic(0)

  /// - Parameters:
  ///   - limit: How many connections there may be.
  ///   - bodyLimit: How much the bodies of all requests may take together, in bytes.
  ///   - giveBack: Called when nobody is there any more for whom memory that is free is worth keeping.
  ///   - rest: Called whenever nobody has been there for a while.
  init(
    limit: Int,
    bodyLimit: Int,
    giveBack: @escaping @Sendable () -> Void = {},
    rest: @escaping @Sendable () -> Void = {}
  ) {
    self.limit = limit
    self.bodyLimit = bodyLimit
    self.giveBack = giveBack
    self.rest = rest
  }

  /// How many are open now.
  var count: Int { state.withLock { $0.channels.count } }

  /// Whether the service is about to end, so that no connection is kept for a next request.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Makes room for a part of a body, unless there is none.
  func hold(_ count: Int) -> Bool {
    guard heldBytes.add(count, ordering: .relaxed).newValue > bodyLimit else { return true }
    release(count)
    return false
  }

  /// Gives back what was held.
  func release(_ count: Int) { heldBytes.subtract(count, ordering: .relaxed) }

  /// Notes that bytes were copied on their way to a client.
  func noteCopied(_ count: Int) { state.withLock { $0.passed += count } }

  /// Takes a connection in, unless there are too many.
  ///
  /// - Returns: Whether it may stay.
  func admit(_ channel: any Channel) -> Bool {
    let isAdmitted = state.withLock { state in
      guard state.channels.count < limit, !state.isDraining else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
    if isAdmitted { channel.closeFuture.whenComplete { [weak self] _ in self?.remove(channel) } }
    return isAdmitted
  }

  /// Asks all connections to end after what they are at.
  func drain() {
    let channels = state.withLock { state in
      state.isDraining = true
      return Array(state.channels.values)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Returns when none is open.
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

  /// Breaks off all that are left.
  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  private func remove(_ channel: any Channel) {
    let (waiter, looks) = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = nil
      state.passed += Self.connectionCost
      guard state.channels.isEmpty else { return (nil as CheckedContinuation<Void, Never>?, false) }
      defer { (state.waiter, state.isLooking) = (nil, true) }
      return (state.waiter, !state.isLooking && !state.isDraining)
    }
    if let waiter { return waiter.resume() }
    guard looks else { return }
    // NIO has its timer go off for a deadline that was cancelled, when nobody is there any more; one that is due before
    // takes its place.
    channel.eventLoop.scheduleTask(in: Self.patience) { self.tidy() }
  }

  /// What a connection that has ended may have left behind, in bytes.
  private static let connectionCost = 16 << 10
  /// So much is worth the time to give it back, in bytes.
  private static let worthGivingBack = 256 << 10
  /// After the last connection.
  private static let patience = TimeAmount.seconds(1)

  private func tidy() {
    let (isEmpty, isWorth) = state.withLock { state in
      state.isLooking = false
      guard state.channels.isEmpty else { return (false, false) }
      guard state.passed >= Self.worthGivingBack else { return (true, false) }
      state.passed = 0
      return (true, true)
    }
    if isEmpty { rest() }
    if isWorth { giveBack() }
  }
}

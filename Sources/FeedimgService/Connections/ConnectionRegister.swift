import NIOCore
import Synchronization

/// The connections that are open, so that they can be counted, limited and ended.
final class ConnectionRegister: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isDraining = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// Guards which connections are open; nothing is sent to them inside.
  private let state = Mutex(State())
  private let limit: Int
  private let bodyLimit: Int
  /// What the bodies of all requests that are under way take.
  private let heldBytes = Atomic(0)

  /// - Parameters:
  ///   - limit: How many connections there may be.
  ///   - bodyLimit: How much the bodies of all requests may take together, in bytes.
  init(limit: Int, bodyLimit: Int) {
    self.limit = limit
    self.bodyLimit = bodyLimit
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
    let waiter = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = nil
      guard state.channels.isEmpty else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }
}

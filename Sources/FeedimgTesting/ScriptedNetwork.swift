public import FeedimgModel
import Synchronization

/// A network that a test sets.
public final class ScriptedNetwork: NetworkMonitoring {
  private struct Shown {
    var state: NetworkState
    var listeners: [AsyncStream<NetworkState>.Continuation] = []
  }

  /// Guards the state.
  ///
  /// Listeners receive changes inside the lock, so that all receive them in the same order.
  private let shown: Mutex<Shown>

  init(_ kind: NetworkKind) { shown = Mutex(Shown(state: Self.state(kind, .no))) }

  /// The network now.
  public var state: NetworkState { shown.withLock { $0.state } }

  /// Changes the network; loads and slots follow soon.
  ///
  /// - Parameters:
  ///   - kind: The kind of the new network.
  ///   - metered: Whether the user pays for its data.
  public func become(_ kind: NetworkKind, metered: Metered = .no) { become(Self.state(kind, metered)) }

  /// Changes the network to a state; loads and slots follow soon.
  func become(_ state: NetworkState) {
    shown.withLock { shown in
      shown.state = state
      for listener in shown.listeners { listener.yield(shown.state) }
    }
  }

  package func currentState() -> NetworkState { state }

  package func states() -> AsyncStream<NetworkState> {
    let (stream, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    shown.withLock { shown in
      shown.listeners.append(continuation)
      continuation.yield(shown.state)
    }
    return stream
  }

  private static func state(_ kind: NetworkKind, _ metered: Metered) -> NetworkState {
    let reason = "the test says so"
    return NetworkState(kind: kind, metered: metered, reason: reason, meteredReason: reason)
  }
}

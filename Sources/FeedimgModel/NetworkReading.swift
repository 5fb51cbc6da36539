/// Tells the state of the network now (a port).
package protocol NetworkReading: Sendable {
  /// A fresh look, which blocks for microseconds at most and never fails: what cannot be told is `other`.
  func currentState() -> NetworkState
}

/// Tells the state of the network whenever it changes (a port).
package protocol NetworkMonitoring: NetworkReading {
  /// The present state at once, then each change; never twice the same in a row. Ends when the consumer leaves.
  func states() -> AsyncStream<NetworkState>

  /// Has whoever watches look again, as others may be asked now; who does not watch does nothing.
  func lookAgain()
}

extension NetworkMonitoring {
  package func lookAgain() {}
}

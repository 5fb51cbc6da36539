/// Reads the current state of the network (a port).
package protocol NetworkReading: Sendable {
  /// Reads the state now. Blocks for microseconds at most and never fails: an unknown network is `other`.
  func currentState() -> NetworkState
}

/// Reports the state of the network when it changes (a port).
package protocol NetworkMonitoring: NetworkReading {
  /// The current state, then each change; never the same state twice in a row. Ends when the consumer stops.
  func states() -> AsyncStream<NetworkState>

  /// Makes a running monitor read the state again, for example after more services became available.
  func lookAgain()
}

extension NetworkMonitoring {
  package func lookAgain() {}
}

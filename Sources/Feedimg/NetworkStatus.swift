public import FeedimgModel
import FeedimgReachability

/// The active network of this machine, seen by netlink; needs no daemon and no privilege.
public struct NetworkStatus: Sendable {
  private let monitor = NetlinkMonitor()

  /// Opens nothing before it is asked.
  public init() {}

  /// The state now; takes microseconds and sends no packet.
  public var state: NetworkState { monitor.currentState() }

  /// The state at once, then each change, never the same twice in a row.
  ///
  /// - Returns: A stream that ends when its consumer leaves.
  public func states() -> AsyncStream<NetworkState> { monitor.states() }
}

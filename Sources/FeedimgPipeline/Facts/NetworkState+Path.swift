import FeedimgModel

extension NetworkState {
  /// The identity of the network path, regardless of its cost: the kind, the devices and the route.
  var pathIdentity: String { ([kind.rawValue] + via + [route ?? ""]).joined(separator: " ") }

  /// Whether packets take the same path, regardless of its cost.
  func isSamePath(as other: NetworkState) -> Bool {
    isReachable == other.isReachable && pathIdentity == other.pathIdentity
  }
}

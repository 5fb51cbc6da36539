/// The requests and connections of a server so far.
package struct ServerLog: Sendable {
  /// In the order in which their heads were complete.
  package internal(set) var requests: [Request] = []
  /// Connections accepted.
  package internal(set) var opened = 0
  /// Connections that the client closed or reset.
  package internal(set) var closedByClient = 0

  /// The number of requests for a path.
  package func count(of path: String) -> Int { requests.count { $0.path == path } }
}

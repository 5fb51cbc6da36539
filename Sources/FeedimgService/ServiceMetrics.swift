import Synchronization

/// What the service has counted since it started.
final class ServiceMetrics: Sendable {
  private struct Series: Hashable {
    var name: String
    /// As Prometheus writes them, sorted.
    var labels: String
  }

  /// Guards the counts.
  private let counts = Mutex<[Series: Int]>([:])

  /// Adds to a count.
  ///
  /// - Parameters:
  ///   - name: As Prometheus names counters, ending in `_total`.
  ///   - labels: Of few values each: every combination is kept for good.
  ///   - amount: How much to add.
  func count(_ name: String, _ labels: [String: String] = [:], by amount: Int = 1) {
    let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }
    let series = Series(name: name, labels: pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}")
    counts.withLock { $0[series, default: 0] += amount }
  }

  /// The lines of one counter, a series each, in a fixed order.
  func lines(of name: String) -> [String] {
    counts.withLock { $0 }.filter { $0.key.name == name }
      .map { "\($0.key.name)\($0.key.labels) \($0.value)" }.sorted()
  }
}

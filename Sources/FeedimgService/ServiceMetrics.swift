import Synchronization

/// What the service has counted since it started.
final class ServiceMetrics: Sendable {
  /// A name and a value.
  typealias Label = (name: String, value: String)

  /// One count: a name, and a combination of values.
  private struct Series: Hashable {
    var name: String
    var labels: [String]

    /// As Prometheus writes it.
    var text: String {
      guard !labels.isEmpty else { return name }
      let pairs = stride(from: 0, to: labels.count, by: 2).map { "\(labels[$0])=\"\(labels[$0 + 1])\"" }
      return "\(name){\(pairs.joined(separator: ","))}"
    }
  }

  /// Guards the counts.
  private let counts = Mutex<[Series: Int]>([:])

  /// Adds to a count.
  ///
  /// - Parameters:
  ///   - name: As Prometheus names counters, ending in `_total`.
  ///   - labels: Always in the same order, and of few values each: every combination is kept for good.
  ///   - amount: How much to add.
  func count(_ name: String, _ labels: Label..., by amount: Int = 1) {
    let series = Series(name: name, labels: labels.flatMap { [$0.name, $0.value] })
    counts.withLock { $0[series, default: 0] += amount }
  }

  /// The lines of one counter, a series each, in a fixed order.
  func lines(of name: String) -> [String] {
    counts.withLock { $0 }.filter { $0.key.name == name }.map { "\($0.key.text) \($0.value)" }.sorted()
  }
}

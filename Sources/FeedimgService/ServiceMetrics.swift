import Synchronization

/// The counters of the service since its start.
final class ServiceMetrics: Sendable {
  /// The name and the value of a label.
  typealias Label = (name: String, value: String)

  /// One counter with the values of its labels.
  private struct Series: Hashable {
    var name: String
    // Four fields rather than an array, which would be allocated for each count.
    var label: String
    var value: String
    var secondLabel: String?
    var secondValue: String?

    /// The series in the format of Prometheus.
    var text: String {
      let second = secondLabel.map { ",\($0)=\"\(secondValue ?? "")\"" } ?? ""
      return "\(name){\(label)=\"\(value)\"\(second)}"
    }
  }

  /// Guards the counts.
  private let counts = Mutex<[Series: Int]>([:])

  /// Adds to a counter.
  ///
  /// - Parameters:
  ///   - name: The name of the counter, which ends in `_total`.
  ///   - label: A label with few values, as all combinations are kept.
  ///   - second: Another label with few values.
  ///   - amount: The amount to add.
  func count(_ name: String, _ label: Label, _ second: Label? = nil, by amount: Int = 1) {
    let series = Series(
      name: name,
      label: label.name,
      value: label.value,
      secondLabel: second?.name,
      secondValue: second?.value
    )
    counts.withLock { $0[series, default: 0] += amount }
  }

  /// The lines of one counter, one for each series, sorted.
  func lines(of name: String) -> [String] {
    counts.withLock { $0 }.filter { $0.key.name == name }.map { "\($0.key.text) \($0.value)" }.sorted()
  }
}

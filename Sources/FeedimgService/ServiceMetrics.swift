import Synchronization

/// What the service has counted since it started.
final class ServiceMetrics: Sendable {
  /// A name and a value.
  typealias Label = (name: String, value: String)

  /// One count: a name, and a combination of values.
  private struct Series: Hashable {
    var name: String
    // No list of them, which would be made anew for each that is counted.
    var label: String
    var value: String
    var secondLabel: String?
    var secondValue: String?

    /// As Prometheus writes it.
    var text: String {
      let second = secondLabel.map { ",\($0)=\"\(secondValue ?? "")\"" } ?? ""
      return "\(name){\(label)=\"\(value)\"\(second)}"
    }
  }

  /// Guards the counts.
  private let counts = Mutex<[Series: Int]>([:])

  /// Adds to a count.
  ///
  /// - Parameters:
  ///   - name: As Prometheus names counters, ending in `_total`.
  ///   - label: Of few values: every combination is kept for good.
  ///   - second: Likewise; always the same one.
  ///   - amount: How much to add.
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

  /// The lines of one counter, a series each, in a fixed order.
  func lines(of name: String) -> [String] {
    counts.withLock { $0 }.filter { $0.key.name == name }.map { "\($0.key.text) \($0.value)" }.sorted()
  }
}

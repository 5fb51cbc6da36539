import Feedimg
import FeedimgAdmin
import FeedimgModel
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

  /// `GET /metrics`: all counters and gauges, in the text format 0.0.4 of Prometheus.
  func response(
    _ loader: ImageLoader,
    _ cache: ImageCache,
    _ hub: EventHub,
    _ register: ConnectionRegister
  ) -> ServiceResponse {
    let copies = loader.copies
    var lines = counter("feedimg_requests_total", "Requests by route and status.")
    lines += counter("feedimg_images_total", "Images sent, by their source and their kind.")
    lines += counter("feedimg_image_bytes_total", "Bytes of images sent, by their source.")
    lines += counter("feedimg_fetches_total", "URLs fetched for clients, by the result of the cache.")
    let gauges = [
      ("feedimg_connections", "Open connections.", register.count),
      ("feedimg_event_readers", "Clients that receive events.", hub.readerCount),
      ("feedimg_arriving_readers", "Clients that receive an image while it downloads.", register.streamCount),
      ("feedimg_arriving_bytes", "Bytes of these images in memory.", register.streamedBytes),
      ("feedimg_sealed_images", "Images in memory with a sealed copy.", copies.count),
      ("feedimg_sealed_bytes", "Bytes of the sealed copies.", copies.size.bytes),
    ]
    for (name, help, value) in gauges { lines += gauge(name, help, [("", value)]) }
    if let summary = try? cache.summary() {
      let parts = [("original", summary.originals), ("thumbnail", summary.thumbnails)]
      func rows(_ value: (CacheSummary.Part) -> Int) -> [(String, Int)] {
        parts.map { ("{role=\"\($0.0)\"}", value($0.1)) }
      }
      lines += gauge("feedimg_cache_images", "Images on disk.", rows(\.count))
      lines += gauge("feedimg_cache_bytes", "Bytes of images on disk.", rows(\.size.bytes))
      lines += gauge("feedimg_cache_limit_bytes", "Limit of the bytes on disk.", rows(\.limit.bytes))
    }
    return ServiceResponse(
      text: lines.joined(separator: "\n") + "\n",
      as: "text/plain; version=0.0.4; charset=utf-8"
    )
  }

  private func counter(_ name: String, _ help: String) -> [String] {
    let series = counts.withLock { $0 }.filter { $0.key.name == name }
    return ["# HELP \(name) \(help)", "# TYPE \(name) counter"]
      + series.map { "\($0.key.text) \($0.value)" }.sorted()
  }

  private func gauge(_ name: String, _ help: String, _ rows: [(labels: String, value: Int)]) -> [String] {
    ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + rows.map { "\(name)\($0.labels) \($0.value)" }
  }
}

import FeedimgAdmin
import FeedimgModel
import Synchronization

/// The counters of the service since its start.
final class ServiceMetrics: Sendable {
  /// A counter with the values of its labels, which are few, as all combinations are kept.
  enum Counter: Sendable, Hashable {
    case requests(route: String, status: Int)
    case images(image: String, source: String)
    case imageBytes(source: String)
    case fetches(cache: String)

    /// The counter in the format of Prometheus.
    fileprivate var text: String {
      switch self {
      case .requests(let route, let status):
        "feedimg_requests_total{route=\"\(route)\",status=\"\(status)\"}"
      case .images(let image, let source):
        "feedimg_images_total{image=\"\(image)\",source=\"\(source)\"}"
      case .imageBytes(let source): "feedimg_image_bytes_total{source=\"\(source)\"}"
      case .fetches(let cache): "feedimg_fetches_total{cache=\"\(cache)\"}"
      }
    }
  }

  /// Guards the counts.
  private let counts = Mutex<[Counter: Int]>([:])

  /// Adds to a counter.
  func count(_ counter: Counter, by amount: Int = 1) {
    counts.withLock { $0[counter, default: 0] += amount }
  }

  /// `GET /metrics`: all counters and gauges, in the text format 0.0.4 of Prometheus.
  func response(_ cache: ImageCache, _ hub: EventHub, _ connectionCount: Int) -> ServiceResponse {
    let counted = counts.withLock { $0 }.map { "\($0.key.text) \($0.value)" }.sorted()
    var lines: [String] = []
    for (name, help) in [
      ("feedimg_requests_total", "Requests by route and status."),
      ("feedimg_images_total", "Images sent, by their source and their kind."),
      ("feedimg_image_bytes_total", "Bytes of images sent, by their source."),
      ("feedimg_fetches_total", "URLs fetched for clients, by the result of the cache."),
    ] {
      lines += ["# HELP \(name) \(help)", "# TYPE \(name) counter"]
      lines += counted.filter { $0.hasPrefix("\(name){") }
    }
    lines += gauge("feedimg_connections", "Open connections.", [("", connectionCount)])
    lines += gauge("feedimg_event_readers", "Clients that receive events.", [("", hub.readerCount)])
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

  private func gauge(_ name: String, _ help: String, _ rows: [(labels: String, value: Int)]) -> [String] {
    ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + rows.map { "\(name)\($0.labels) \($0.value)" }
  }
}

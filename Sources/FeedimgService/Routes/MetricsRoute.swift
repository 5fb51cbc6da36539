import Feedimg
import FeedimgAdmin

/// `GET /metrics`: what Prometheus collects (text format 0.0.4).
struct MetricsRoute: Sendable {
  let metrics: ServiceMetrics
  let cache: ImageCache
  let connections: @Sendable () -> Int
  let readers: @Sendable () -> Int
  /// How many clients are sent what still comes, and what is held of that in bytes.
  let arriving: @Sendable () -> (readers: Int, held: Int)
  /// How many images are kept sealed besides, and what that takes in bytes.
  let copies: @Sendable () -> (count: Int, size: Int)

  /// All counters and the present levels.
  func answer(_ request: ServiceRequest) -> ServiceAnswer {
    var lines = counter("feedimg_requests_total", "Requests by route and status.")
    lines += counter("feedimg_images_total", "Images handed out, by where they came from and what they were.")
    lines += counter("feedimg_image_bytes_total", "Bytes of images handed out, by where they came from.")
    lines += counter("feedimg_fetches_total", "URLs fetched for clients, by what the cache did.")
    lines += gauge("feedimg_connections", "Connections open now.", [("", connections())])
    lines += gauge("feedimg_event_readers", "Readers of events now.", [("", readers())])
    let (copies, arriving) = (copies(), arriving())
    lines += gauge("feedimg_arriving_readers", "Clients sent what still comes.", [("", arriving.readers)])
    lines += gauge("feedimg_arriving_bytes", "Bytes of that held in memory.", [("", arriving.held)])
    lines += gauge("feedimg_sealed_images", "Images kept in memory sealed besides.", [("", copies.count)])
    lines += gauge("feedimg_sealed_bytes", "Bytes that these copies take.", [("", copies.size)])
    if let summary = try? cache.summary() {
      let parts = [("original", summary.originals), ("thumbnail", summary.thumbnails)]
      func rows(_ value: (CacheSummary.Part) -> Int) -> [(String, Int)] {
        parts.map { ("{role=\"\($0.0)\"}", value($0.1)) }
      }
      lines += gauge("feedimg_cache_images", "Images kept on disk.", rows(\.count))
      lines += gauge("feedimg_cache_bytes", "Bytes kept on disk.", rows(\.size.bytes))
      lines += gauge("feedimg_cache_limit_bytes", "Bytes that may be kept on disk.", rows(\.limit.bytes))
    }
    return ServiceAnswer(
      text: lines.joined(separator: "\n") + "\n",
      as: "text/plain; version=0.0.4; charset=utf-8"
    )
  }

  private func counter(_ name: String, _ help: String) -> [String] {
    ["# HELP \(name) \(help)", "# TYPE \(name) counter"] + metrics.lines(of: name)
  }

  private func gauge(_ name: String, _ help: String, _ rows: [(labels: String, value: Int)]) -> [String] {
    ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + rows.map { "\(name)\($0.labels) \($0.value)" }
  }
}

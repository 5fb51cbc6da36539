import Feedimg
import FeedimgAdmin

/// `GET /metrics`: counters and gauges for Prometheus (text format 0.0.4).
struct MetricsRoute: Sendable {
  let metrics: ServiceMetrics
  let cache: ImageCache
  let loader: ImageLoader
  let hub: EventHub
  let register: ConnectionRegister

  /// All counters and gauges.
  func response(to request: ServiceRequest) -> ServiceResponse {
    let (copies, streams) = (loader.copies, register.streams)
    var lines = counter("feedimg_requests_total", "Requests by route and status.")
    lines += counter("feedimg_images_total", "Images sent, by their source and their kind.")
    lines += counter("feedimg_image_bytes_total", "Bytes of images sent, by their source.")
    lines += counter("feedimg_fetches_total", "URLs fetched for clients, by the result of the cache.")
    lines += gauge("feedimg_connections", "Open connections.", [("", register.count)])
    lines += gauge("feedimg_event_readers", "Clients that receive events.", [("", hub.readerCount)])
    lines += gauge(
      "feedimg_arriving_readers",
      "Clients that receive an image while it downloads.",
      [("", streams.readerCount)]
    )
    lines += gauge("feedimg_arriving_bytes", "Bytes of these images in memory.", [("", streams.heldCount)])
    lines += gauge("feedimg_sealed_images", "Images in memory with a sealed copy.", [("", copies.count)])
    lines += gauge("feedimg_sealed_bytes", "Bytes of the sealed copies.", [("", copies.size.bytes)])
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
    ["# HELP \(name) \(help)", "# TYPE \(name) counter"] + metrics.lines(of: name)
  }

  private func gauge(_ name: String, _ help: String, _ rows: [(labels: String, value: Int)]) -> [String] {
    ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + rows.map { "\(name)\($0.labels) \($0.value)" }
  }
}

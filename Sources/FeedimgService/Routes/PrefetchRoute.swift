import Feedimg
import FeedimgJSON
import FeedimgModel
import Synchronization

/// The running prefetches of all clients, by their identifiers.
final class PrefetchRegistry: Sendable {
  private let loader: ImageLoader
  /// Guards the prefetches; they are stopped and released outside.
  private let state = Mutex<(running: [String: Prefetch], isEnded: Bool)>(([:], false))

  init(_ loader: ImageLoader) { self.loader = loader }

  /// Stops all prefetches, later ones included.
  func end() {
    let prefetches = state.withLock { state in
      state.isEnded = true
      return Array(state.running.values)
    }
    for prefetch in prefetches { prefetch.stop() }
  }

  /// `POST /v1/prefetch`: a stream of events that lasts as long as the prefetch; the prefetch stops when its client disconnects.
  func start(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let items = try request.items().items
    let (limits, waits) = (try request.target.prefetchLimits, try request.target.waits)
    let loader = try request.target.loader(from: self.loader)
    let prefetch = loader.prefetch(items, limits: limits, waitsForNetwork: waits)
    // No prefetch of another run of the service has this identifier.
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    let isEnded = state.withLock { state in
      state.running[id] = prefetch
      return state.isEnded
    }
    if isEnded { prefetch.stop() }
    // A request has at most 1 MiB, which bounds the number of items and so the events that wait for a slow client.
    let (texts, events) = AsyncStream.makeStream(of: String.self)
    let start: JSONValue = ["id": .string(id), "items": .integer(items.count)]
    events.yield(Self.event("start", start.text(.compact)))
    events.onTermination = { _ in prefetch.stop() }
    Task(executorPreference: TaskThread.executor) {
      for await outcome in prefetch.outcomes {
        let item = Self.event("item", outcome.json(of: items[outcome.index]))
        events.yield(item + Self.event("progress", outcome.progress.json))
      }
      let total = await prefetch.finish()
      _ = self.state.withLock { $0.running.removeValue(forKey: id) }
      events.yield(Self.event(total.done < total.count ? "stopped" : "end", total.json))
      events.finish()
    }
    return .events(texts)
  }

  /// `DELETE /v1/prefetch/ID`: stops a prefetch.
  func stop(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let path = request.target.path
    let id = path.suffix(from: path.index(after: path.lastIndex(of: "/") ?? path.startIndex))
    guard let prefetch = state.withLock({ $0.running[String(id)] }) else {
      throw Problem(404, "no prefetch `\(id)` is running; it may have ended")
    }
    prefetch.stop()
    return ServiceResponse(204)
  }

  private static func event(_ kind: String, _ json: String) -> String {
    "event: \(kind)\ndata: \(json)\n\n"
  }
}

extension RequestTarget {
  /// The limits in `limit=` and `image-limit=`.
  fileprivate var prefetchLimits: Prefetch.Limits {
    get throws(Problem) {
      var limits = Prefetch.Limits()
      if let size = try size("limit") { limits.total = size }
      if let size = try size("image-limit") { limits.perImage = size }
      return limits
    }
  }

  private func size(_ name: String) throws(Problem) -> ByteCount? {
    guard let text = self[name] else { return nil }
    guard let size = ByteCount(text) else {
      throw Problem(422, "`\(name)=`: expected a size, such as `20MB` or `512 KiB`, found `\(text)`")
    }
    return size
  }

  /// Whether items wait for a better network, by `wait=`.
  fileprivate var waits: Bool {
    get throws(Problem) {
      switch self["wait"] {
      case nil, "no"?: return false
      case "yes"?: return true
      case let text?: throw Problem(422, "`wait=`: expected `yes` or `no`, found `\(text)`")
      }
    }
  }
}

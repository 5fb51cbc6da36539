import FeedimgJSON
public import FeedimgModel

/// The steps of one load in order of time, for people to read.
public struct LoadTimeline: Sendable, Hashable {
  /// One step, or several of the same kind in a row, such as all steps that received bytes.
  public struct Entry: Sendable, Hashable {
    /// The time from the first step to this one.
    public var begin: Duration
    /// The time of the next step; for the last step, the same as ``begin``.
    public var end: Duration
    /// The name of the step, such as `response`.
    public var name: String
    /// Details in words; may be empty.
    public var detail: String
  }

  /// The entries; empty only if there was no event.
  public let entries: [Entry]

  /// Makes the timeline of one load.
  ///
  /// - Parameter events: The events of the load, in any order.
  public init(_ events: [LoadEvent]) {
    let events = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map(\.element)
    var entries: [Entry] = []
    for event in events {
      let begin = event.time - events[0].time
      if !entries.isEmpty { entries[entries.count - 1].end = begin }
      let (name, detail) = event.step.words
      if case .progress = event.step, entries.last?.name == name {
        entries[entries.count - 1].detail = detail
      } else {
        entries.append(Entry(begin: begin, end: begin, name: name, detail: detail))
      }
    }
    self.entries = entries
  }

  /// The time from the first step to the last.
  public var duration: Duration { entries.last?.end ?? .zero }

  /// The entries as one line of JSON, an array; times are in milliseconds.
  public var json: String { jsonValue.text(.compact) }

  var jsonValue: JSONValue {
    .array(
      entries.map { entry in
        .object(
          JSONObject([
            ("ms", .number(Self.milliseconds(entry.begin))),
            ("lasts", .number(Self.milliseconds(entry.end - entry.begin))), ("step", .string(entry.name)),
            ("detail", .string(entry.detail)),
          ])
        )
      }
    )
  }

  /// Returns milliseconds with three decimal places.
  private static func milliseconds(_ duration: Duration) -> String {
    let microseconds = max(0, Int(duration / .microseconds(1)))
    let rest = String(microseconds % 1000)
    return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}

extension LoadedImage {
  /// Returns the same as ``json``, with a member `trace` that has the steps of the load.
  ///
  /// - Parameter timeline: The steps of the load.
  /// - Returns: One JSON object.
  public func json(with timeline: LoadTimeline) -> String { jsonValue.adding(timeline) }
}

extension LoadError {
  /// Returns the same as ``json``, with a member `trace` that has the steps of the load.
  ///
  /// - Parameter timeline: The steps of the load.
  /// - Returns: One JSON object.
  public func json(with timeline: LoadTimeline) -> String { jsonValue.adding(timeline) }
}

extension JSONValue {
  fileprivate func adding(_ timeline: LoadTimeline) -> String {
    guard case .object(var object) = self else { return text(.compact) }
    object["trace"] = timeline.jsonValue
    return JSONValue.object(object).text(.compact)
  }
}

extension LoadEvent.Step {
  /// The name of the step, and its details.
  fileprivate var words: (name: String, detail: String) {
    switch self {
    case .decided(let resolution):
      ("decided", "\(resolution.decision.image.rawValue): \(resolution.why)")
    case .found(let source): ("found", source == .memory ? "in memory" : "on disk")
    case .missed: ("missed", "neither in memory nor on disk")
    case .joined: ("joined", "another load of the same image")
    case .queued: ("queued", "")
    case .started: ("started", "")
    case .paused: ("paused", "for a more urgent transfer")
    case .requested: ("requested", "the connection is open")
    case .redirected(let url): ("redirected", "to \(url)")
    case .responded(let status): ("response", HTTPStatus.text(status))
    case .resumed(let kept): ("resumed", "after \(kept.rounded) that were kept")
    case .progress(let progress): ("received", progress.words)
    case .verified(let mediaType): ("verified", mediaType)
    case .decoded(let size): ("decoded", "\(size)")
    case .stored: ("stored", "")
    case .notStored(let reason): ("not stored", reason)
    case .revalidated(let isNew): ("revalidated", isNew ? "the server has a new version" : "unchanged")
    case .notRevalidated(let error): ("not revalidated", error.message)
    case .retried(let error, let wait):
      ("retried", "after \(Int((wait / .milliseconds(1)).rounded())) ms: \(error.message)")
    case .finished(let source): ("finished", "from \(source.place)")
    case .failed(let error): ("failed", error.message)
    case .cancelled: ("cancelled", "")
    }
  }
}

extension LoadedImage.Source {
  fileprivate var place: String {
    switch self {
    case .memory: "memory"
    case .disk: "the disk"
    case .network: "the network"
    }
  }
}

extension LoadProgress {
  fileprivate var words: String {
    received == total
      ? received.rounded : total.map { "\(received.rounded) of \($0.rounded)" } ?? received.rounded
  }
}

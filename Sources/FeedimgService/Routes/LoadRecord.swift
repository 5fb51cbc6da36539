import Feedimg
import Synchronization

/// Records the steps of one load, for the fields of its response.
final class LoadRecord: LoadObserving {
  /// Guards the events, which come from several threads.
  private let events = Mutex<[LoadEvent]>([])
  /// Whether the validation comes before the response; otherwise it runs afterwards.
  private let isReload: Bool
  private let start: ContinuousClock.Instant

  /// - Parameters:
  ///   - isReload: Whether the client asks for a validation before the response.
  ///   - start: The arrival of the request.
  init(isReload: Bool, at start: ContinuousClock.Instant = .now) {
    (self.isReload, self.start) = (isReload, start)
  }

  func observe(_ event: LoadEvent) {
    // Progress is frequent and begins no stage.
    if case .progress = event.step { return }
    events.withLock { $0.append(event) }
  }

  /// The steps so far.
  var steps: LoadSteps { LoadSteps(events.withLock { $0 }, isReload: isReload, since: start) }
}

/// The steps of a load that the fields of its response state.
struct LoadSteps: Sendable {
  /// A stage of a request, in the usual order.
  ///
  /// `join` is the time that the same load of another client takes.
  private enum Stage: String { case decide, cache, join, queue, connect, wait, receive, store }

  /// The place of the image, if it was cached.
  private(set) var source: LoadedImage.Source?
  /// Whether the server validated the cached image.
  private(set) var isValidated = false
  /// The status of the latest response of the server, if any.
  private(set) var status: Int?
  private let start: ContinuousClock.Instant
  private var stages: [(stage: Stage, time: Duration)] = []
  private var current: (stage: Stage?, since: ContinuousClock.Instant)

  fileprivate init(_ events: [LoadEvent], isReload: Bool, since start: ContinuousClock.Instant) {
    (self.start, current) = (start, (.decide, start))
    for event in events {
      switch event.step {
      case .found(let place): source = place
      case .responded(let code): status = code
      case .revalidated, .notRevalidated: isValidated = true
      default: break
      }
      // A validation after the response takes no time of the client.
      enter(isReload || source == nil ? Self.stage(of: event.step) : nil, at: event.time)
    }
  }

  /// The value of `Server-Timing` (Server Timing, §3): each stage, then the total, in milliseconds.
  ///
  /// The time of `receive` is unknown while the body arrives.
  func serverTiming(at now: ContinuousClock.Instant = .now, isStreaming: Bool = false) -> String {
    var ended = self
    ended.enter(nil, at: now)
    let metrics = ended.stages.compactMap { stage, time -> String? in
      if isStreaming, stage == .receive { return nil }
      let place = stage == .cache ? source.map { ";desc=\"\($0.rawValue)\"" } : nil
      return "\(stage.rawValue)\(place ?? "");dur=\(Self.milliseconds(time))"
    }
    return (metrics + ["total;dur=\(Self.milliseconds(now - start))"]).joined(separator: ", ")
  }

  /// The value of `Server-Timing` for an image in memory.
  static func memoryTiming(_ time: Duration) -> String { "cache;desc=\"memory\";dur=\(milliseconds(time))" }

  /// Enters a stage, or nil for one that is not reported; a time before the previous change counts as that.
  private mutating func enter(_ stage: Stage?, at time: ContinuousClock.Instant) {
    let time = max(time, current.since)
    if let ended = current.stage {
      let index = stages.firstIndex { $0.stage == ended } ?? stages.endIndex
      if index == stages.endIndex { stages.append((ended, .zero)) }
      stages[index].time += time - current.since
    }
    current = (stage, time)
  }

  private static func milliseconds(_ time: Duration) -> Double {
    Double(Int(time / .microseconds(1))) / 1000
  }

  /// The stage that a step begins; nil for a step that begins none.
  private static func stage(of step: LoadEvent.Step) -> Stage? {
    switch step {
    case .decided: .cache
    case .joined: .join
    case .missed, .queued, .paused, .retried: .queue
    case .started, .redirected: .connect
    case .requested: .wait
    case .responded, .resumed, .progress: .receive
    case .verified: .store
    case .found, .decoded, .stored, .notStored, .revalidated, .notRevalidated: nil
    case .finished, .failed, .cancelled: nil
    }
  }
}

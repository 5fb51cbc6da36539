import Feedimg

/// The time that each stage of a request took (Server Timing, §3).
struct ServerTiming: Sendable {
  /// A stage of a request; the cases are in the usual order.
  ///
  /// `join` is the time that the same load of another client takes.
  enum Stage: String, Sendable { case decide, cache, join, queue, connect, wait, receive, store }

  /// The place of the image, if it was cached.
  var source: LoadedImage.Source?
  let start: ContinuousClock.Instant
  private var stages: [(stage: Stage, time: Duration)] = []
  private var current: (stage: Stage?, since: ContinuousClock.Instant)

  /// - Parameter start: The arrival of the request, which begins the stage `decide`.
  init(at start: ContinuousClock.Instant) { (self.start, current) = (start, (.decide, start)) }

  /// Enters the next stage, or nil for one that is not reported; a time before the previous change counts as that.
  mutating func enter(_ stage: Stage?, at time: ContinuousClock.Instant) {
    let time = max(time, current.since)
    end(at: time)
    current = (stage, time)
  }

  /// Formats each stage, then the total, in milliseconds; the time of `receive` is unknown while the body arrives.
  func text(at now: ContinuousClock.Instant, isStreaming: Bool = false) -> String {
    var timing = self
    timing.enter(nil, at: now)
    let metrics = timing.stages.compactMap { stage, time -> String? in
      if isStreaming, stage == .receive { return nil }
      let place = stage == .cache ? source.map { ";desc=\"\($0.rawValue)\"" } : nil
      return "\(stage.rawValue)\(place ?? "");dur=\(Self.milliseconds(time))"
    }
    return (metrics + ["total;dur=\(Self.milliseconds(now - start))"]).joined(separator: ", ")
  }

  /// The value of the field for an image in memory.
  static func memoryHit(in time: Duration) -> String { "cache;desc=\"memory\";dur=\(milliseconds(time))" }

  private mutating func end(at time: ContinuousClock.Instant) {
    guard let stage = current.stage else { return }
    let spent = time - current.since
    if let known = stages.firstIndex(where: { $0.stage == stage }) {
      stages[known].time += spent
    } else {
      stages.append((stage, spent))
    }
  }

  private static func milliseconds(_ time: Duration) -> Double {
    Double(Int(time / .microseconds(1))) / 1000
  }
}

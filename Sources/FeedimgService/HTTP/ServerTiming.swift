import Feedimg

/// Where the time of a request went (Server Timing, §3).
struct ServerTiming: Sendable {
  /// What a request spends its time with, in the usual order.
  enum Stage: String, Sendable {
    /// To decide which image.
    case decide
    /// To look into memory and the disk.
    case cache
    /// For the same load of another client.
    case join
    /// For a place among the transfers.
    case queue
    /// For a connection.
    case connect
    /// For the first byte of the answer.
    case wait
    /// For the bytes.
    case receive
    /// To check and write them.
    case store
  }

  /// Where the image was, if it was cached.
  var source: LoadedImage.Source?
  let start: ContinuousClock.Instant
  private var stages: [(stage: Stage, time: Duration)] = []
  private var current: (stage: Stage?, since: ContinuousClock.Instant)

  /// - Parameter start: When the request was there; it is decided about first.
  init(at start: ContinuousClock.Instant) { (self.start, current) = (start, (.decide, start)) }

  /// Goes on to the next stage.
  ///
  /// - Parameters:
  ///   - stage: Nil for none that is told.
  ///   - time: When; what seems to come before what was told last takes no time.
  mutating func enter(_ stage: Stage?, at time: ContinuousClock.Instant) {
    let time = max(time, current.since)
    end(at: time)
    current = (stage, time)
  }

  /// Puts each stage into words, and then the whole.
  ///
  /// - Parameters:
  ///   - now: The end of what is told.
  ///   - isArriving: Whether the bytes still come, so that nobody knows how long that takes.
  /// - Returns: The value of the field, in milliseconds.
  func text(at now: ContinuousClock.Instant, isArriving: Bool = false) -> String {
    var timing = self
    timing.enter(nil, at: now)
    let metrics = timing.stages.compactMap { stage, time -> String? in
      if isArriving, stage == .receive { return nil }
      let place = stage == .cache ? source.map { ";desc=\"\($0.rawValue)\"" } : nil
      return "\(stage.rawValue)\(place ?? "");dur=\(Self.milliseconds(time))"
    }
    return (metrics + ["total;dur=\(Self.milliseconds(now - start))"]).joined(separator: ", ")
  }

  /// That an image was in memory, and how long it took to know.
  static func atHand(in time: Duration) -> String { "cache;desc=\"memory\";dur=\(milliseconds(time))" }

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

import FeedimgModel

/// Which images are being asked about, and when each may be asked about again (pure).
///
/// Showing one image many times, as scrolling does, asks about it once; a server that does not answer is asked less
/// and less often.
struct RevalidationTable: Sendable {
  /// What to do about a wish to ask.
  enum Step: Equatable {
    /// Ask now.
    case start
    /// Others are asked about now; ``end(_:at:failing:)`` says when it is its turn. What has waited longest may have to
    /// give way, as it was shown longest ago.
    case queue(inPlaceOf: String?)
    /// It is being asked about, or will be.
    case join
    /// It was asked about a short while ago.
    case rest
  }

  /// How an image was asked about last.
  private struct Past {
    var endedAt: Double
    var rest: Double
    var failures: Int
    var error: LoadError?
  }

  /// Asking is for later; what is to be seen now goes before.
  static let greatestRunning = 2
  /// After an answer, in seconds.
  static let leastRest = Asking.leastInterval
  /// After the first failure, in seconds; doubles with each.
  static let firstRestAfterFailure = 30.0
  static let greatestRest = 3600.0
  /// More do not wait: each holds on to an image, and the next time that it is shown it is asked about as well.
  static let greatestQueue = 64
  /// More are not remembered.
  static let greatestPasts = 4096

  private var running: Set<String> = []
  private var queued: [String] = []
  private var pasts: [String: Past] = [:]

  var isIdle: Bool { running.isEmpty && queued.isEmpty }
  /// How many are remembered.
  var pastCount: Int { pasts.count }
  /// How many are being asked about, or will be.
  var count: Int { running.count + queued.count }

  func isAsking(_ key: String) -> Bool { running.contains(key) || queued.contains(key) }

  /// Whether it was asked about so short a while ago that asking again would be in vain.
  func isResting(_ key: String, at now: Double) -> Bool {
    pasts[key].map { (0..<$0.rest).contains(now - $0.endedAt) } ?? false
  }

  /// Why nobody answered when it was asked about last; nil where somebody did.
  func failure(of key: String) -> LoadError? { pasts[key]?.error }

  /// Someone has shown an image that may be out of date.
  mutating func ask(_ key: String, at now: Double) -> Step {
    if isAsking(key) { return .join }
    if isResting(key, at: now) { return .rest }
    guard running.count < Self.greatestRunning else {
      queued.append(key)
      return .queue(inPlaceOf: queued.count > Self.greatestQueue ? queued.removeFirst() : nil)
    }
    running.insert(key)
    return .start
  }

  /// Someone waits for the answer, so that neither a queue nor a rest counts.
  mutating func askAtOnce(_ key: String) -> Step {
    queued.removeAll { $0 == key }
    return running.insert(key).inserted ? .start : .join
  }

  /// Takes note that an image has been asked about.
  ///
  /// - Parameters:
  ///   - key: The key of the image.
  ///   - now: Seconds since 1970.
  ///   - error: Nil if there was an answer; its server is left alone, or believed, as long as it wants. What was
  ///     cancelled says nothing of the server, and may be asked again at once; where nobody was asked, that is no
  ///     failure of the image, which rests as long as its server is left alone.
  /// - Returns: The key that is to be started now.
  mutating func end(_ key: String, at now: Double, failing error: LoadError?) -> String? {
    running.remove(key)
    if pasts.count >= Self.greatestPasts { pasts.removeAll() }
    let before = pasts[key]?.failures ?? 0
    let (rest, failures) =
      switch error {
      case nil: (Self.leastRest, 0)
      case let error? where error.code == .cancelled: (0, before)
      case let error? where error.isRefusal: (error.retryAfter.map { Double($0) } ?? Self.leastRest, before)
      case let error?: (max(error.leastRest, Self.rest(after: before + 1)), before + 1)
      }
    pasts[key] = Past(endedAt: now, rest: rest, failures: failures, error: error)
    guard running.count < Self.greatestRunning, !queued.isEmpty else { return nil }
    let next = queued.removeFirst()
    running.insert(next)
    return next
  }

  /// Forgets how images were asked about, as another network may well lead to an answer.
  mutating func forgetPast() { pasts.removeAll() }

  /// Gives up what has not been started.
  mutating func dropQueued() -> [String] {
    defer { queued.removeAll() }
    return queued
  }

  private static func rest(after failures: Int) -> Double {
    // Doubled seven times it is over the greatest.
    min(firstRestAfterFailure * Double(1 << min(failures - 1, 7)), greatestRest)
  }
}

extension LoadError {
  /// For how long its server is to be left alone, or is believed.
  fileprivate var leastRest: Double { max(Double(retryAfter ?? 0), believedFor ?? 0) }
}

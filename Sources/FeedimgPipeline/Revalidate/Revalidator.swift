import FeedimgHTTPCache
public import FeedimgModel
import FeedimgSystem
import Synchronization

/// Decides when to ask servers whether cached images are still valid.
///
/// Callers that show the same image share one request. Another request follows at least 10 seconds after a
/// response. After failures, the interval grows from 30 seconds to an hour.
@PipelineActor final class Revalidator {
  typealias Requests = Coalescer<FetchedImage?>

  struct Past {
    var endedAt: Double
    var rest: Double
    var failures: Int
    var error: LoadError?
  }

  nonisolated static let backoff = Backoff(base: .seconds(30), maximum: .seconds(3600))
  /// The most images to revalidate at once, because each one stays in memory; the others wait until they are
  /// shown again.
  private nonisolated static let maximumCount = 64
  private nonisolated static let maximumRequests = 4096

  /// The running requests; their results are the new image, or nil if the cached one is valid.
  nonisolated let coalescer = Requests()
  private nonisolated let clock: @Sendable () -> Double
  /// Guards the last requests, which other threads read.
  nonisolated let lastRequests = Mutex<[String: Past]>([:])
  private(set) var background: [String: Task<Void, Never>] = [:]
  private var idleEvent: Event?
  private var summary = RevalidationSummary()

  nonisolated init(clock: @escaping @Sendable () -> Double) { self.clock = clock }

  /// Sends one request, and returns the new image; nil if the cached one is valid.
  typealias Perform = @PipelineActor @Sendable (InFlightLoad) async -> Result<FetchedImage?, LoadError>

  /// Revalidates an image in the background, unless a request is running or has just ended.
  ///
  /// - Parameters:
  ///   - key: Equal for all requests that may share a response.
  ///   - url: The URL of the image.
  ///   - perform: Sends the request.
  /// - Returns: Whether a result will follow.
  func begin(_ key: String, of url: ImageURL, _ perform: @escaping Perform) -> Bool {
    if background[key] != nil || coalescer.count(of: key) > 0 { return true }
    guard !isTooRecent(key), background.count < Self.maximumCount else { return false }
    background[key] = PipelineActor.task { [self] in
      _ = await outcome(key, of: url, Requests.Caller(LoadHandle(.prefetch)), perform)
      background[key] = nil
      if background.isEmpty { idleEvent.take()?.signal() }
    }
    return true
  }

  /// Revalidates an image, or joins the running request.
  func outcome(
    _ key: String,
    of url: ImageURL,
    _ caller: Requests.Caller,
    _ perform: @escaping Perform
  ) async -> Requests.Outcome {
    await coalescer.outcome(for: key, caller) { load in
      let result = await perform(load)
      self.note(key, url, result)
      return result
    }
  }

  /// Waits for the result of the running request for a key; nil if none runs.
  func running(_ key: String) async -> Requests.Outcome? {
    guard coalescer.count(of: key) > 0 || background[key] != nil else { return nil }
    return await coalescer.outcome(for: key, Requests.Caller(LoadHandle(.prefetch))) { _ in
      .failure(LoadError(.cancelled, message: "the request has ended"))
    }
  }

  /// Whether the last request for an image is too recent for another one.
  nonisolated func isTooRecent(_ key: String) -> Bool {
    let past = lastRequests.withLock { $0[key] }
    return past.map { (0..<$0.rest).contains(clock() - $0.endedAt) } ?? false
  }

  /// The failure of the last request for a key; nil if it succeeded.
  nonisolated func failure(of key: String) -> LoadError? { lastRequests.withLock { $0[key]?.error } }

  /// Forgets earlier requests, for example after a change of the network.
  nonisolated func forgetRequests() { lastRequests.withLock { $0 = [:] } }

  func idle() async {
    guard !background.isEmpty else { return }
    let event = idleEvent ?? Event()
    idleEvent = event
    await event.wait()
  }

  func stop() { for task in background.values { task.cancel() } }

  /// Returns the results since the last call.
  func takeSummary() -> RevalidationSummary {
    defer { summary = RevalidationSummary() }
    return summary
  }

  private func note(_ key: String, _ url: ImageURL, _ result: Result<FetchedImage?, LoadError>) {
    summary.count(result, of: url)
    let before = lastRequests.withLock { $0[key]?.failures ?? 0 }
    let (rest, failures): (Double, Int) =
      switch result.failure {
      case nil: (RevalidationPlan.minimumInterval, 0)
      case let error? where error.code == .cancelled: (0, before)
      case let error? where error.retry.circuit == .rejected:
        (error.retryAfter.map { Double($0) } ?? RevalidationPlan.minimumInterval, before)
      case let error?:
        (
          max(
            Double(error.retryAfter ?? 0),
            error.retry.lifetime ?? 0,
            Self.backoff.ceiling(after: before + 1) / .seconds(1)
          ), before + 1
        )
      }
    let past = Past(endedAt: clock(), rest: rest, failures: failures, error: result.failure)
    lastRequests.withLock { lastRequests in
      if lastRequests.count >= Self.maximumRequests { lastRequests = [:] }
      lastRequests[key] = past
    }
  }
}

/// The results of several revalidations.
public struct RevalidationSummary: Sendable, Hashable {
  /// The number of images that have not changed.
  public internal(set) var unchanged = 0
  /// The URLs of the first hundred images that have changed, in the form in which the cache compares them.
  public internal(set) var changed: [String] = []
  /// The first hundred failures; these images stay cached.
  public internal(set) var failures: [LoadError] = []
  /// The number of revalidations that were cancelled.
  public internal(set) var unfinished = 0

  private static let maximumList = 100

  mutating func count(_ outcome: Result<FetchedImage?, LoadError>, of url: ImageURL) {
    switch outcome {
    case .success(nil): unchanged += 1
    case .success:
      if changed.count < Self.maximumList { changed.append(ImageURL.withoutCredentials(url.key)) }
    case .failure(let error) where error.code == .cancelled: unfinished += 1
    case .failure(let error): if failures.count < Self.maximumList { failures.append(error) }
    }
  }
}

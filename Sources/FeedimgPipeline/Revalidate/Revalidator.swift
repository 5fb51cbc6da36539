import FeedimgHTTPCache
public import FeedimgModel
import FeedimgSystem

/// Decides when to ask servers whether cached images are still valid.
///
/// Callers that show the same image share one request. The retry controller remembers the results: another request
/// follows at least 10 seconds after a response. After failures, the pause grows from 30 seconds to an hour.
@PipelineActor final class Revalidator {
  typealias Requests = Coalescer<FetchedImage?>

  /// The most images to revalidate at once, because each one stays in memory; the others wait until they are
  /// shown again.
  private nonisolated static let maximumCount = 64

  /// The running requests; their results are the new image, or nil if the cached one is valid.
  nonisolated let coalescer = Requests()
  private nonisolated let retries: RetryController
  private(set) var background: [String: (task: Task<Void, Never>, outcome: Promise<Requests.Outcome>)] = [:]
  private var idleEvent: Event?
  private var summary = RevalidationSummary()

  nonisolated init(_ retries: RetryController) { self.retries = retries }

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
    guard !retries.isRevalidationPaused(key), background.count < Self.maximumCount else { return false }
    let promise = Promise<Requests.Outcome>()
    let task = PipelineActor.task { [self] in
      let outcome = await outcome(key, of: url, Requests.Caller(LoadHandle(.prefetch)), perform)
      // After ``stop()``, the request itself may end later.
      if Task.isCancelled, case .failed(let error) = outcome, error.code == .cancelled {
        summary.unfinished += 1
      }
      background[key] = nil
      promise.resolve(outcome)
      if background.isEmpty { idleEvent.take()?.signal() }
    }
    background[key] = (task, promise)
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
      // The callers of a cancelled request do not wait for its end.
      if !Task.isCancelled { self.summary.count(result, of: url) }
      self.retries.noteRevalidation(key, result.failure)
      return result
    }
  }

  /// Waits for the result of the running request for a key; nil if none runs.
  func running(_ key: String) async -> Requests.Outcome? {
    // The task may not have started yet.
    if let promise = background[key]?.outcome { return await promise.value() }
    guard coalescer.count(of: key) > 0 else { return nil }
    return await coalescer.outcome(for: key, Requests.Caller(LoadHandle(.prefetch))) { _ in
      .failure(LoadError(.cancelled, message: "the request has ended"))
    }
  }

  /// Waits until no request runs in the background, but at most for a time if one is given.
  ///
  /// - Returns: False if the task is cancelled or the time ends first.
  @discardableResult
  func idle(within limit: Duration? = nil) async -> Bool {
    guard !background.isEmpty else { return true }
    let event = idleEvent ?? Event()
    idleEvent = event
    return if let limit { await event.wait(limit, retries.time) } else { await event.wait() }
  }

  /// Cancels all requests in the background.
  func stop() { for request in background.values { request.task.cancel() } }

  /// Returns the results since the last call.
  func takeSummary() -> RevalidationSummary {
    defer { summary = RevalidationSummary() }
    return summary
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

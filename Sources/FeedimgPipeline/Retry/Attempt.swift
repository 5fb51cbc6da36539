import FeedimgModel
import FeedimgSystem

/// One attempt of a load, from its admission to its response.
///
/// The circuit is checked when the request goes out, after the wait for a slot. A load therefore never waits
/// for a probe that itself waits for a slot.
@PipelineActor final class Attempt {
  let url: ImageURL
  /// The longest time to wait for a connection or a response.
  let timeLeft: Duration
  private let controller: RetryController
  /// The server of the latest request; after a redirect, failures count for its target.
  private(set) var currentURL: ImageURL
  private(set) var begun: Duration
  /// Whether other loads wait for its response.
  private(set) var isProbe = false
  /// Whether the circuit opened before the request went out.
  private(set) var isWithheld = false
  private var hasResponded = false
  private(set) var progress: AttemptProgress

  init(
    _ url: ImageURL,
    _ controller: RetryController,
    beyond start: Int = 0,
    timeLeft: Duration = RetryController.maximumSilence
  ) {
    (self.url, self.controller, self.timeLeft) = (url, controller, timeLeft)
    (progress, currentURL, begun) = (AttemptProgress(start: start), url, controller.time.now())
  }

  /// Starts a request.
  ///
  /// - Throws: `cancelled` if the circuit has opened meanwhile.
  func begin() throws(LoadError) {
    (currentURL, begun) = (url, controller.time.now())
    guard !hasResponded else { return }
    let admitted = controller.admit(url.origin)
    isWithheld = admitted == nil
    guard let admitted else {
      throw LoadError(.cancelled, message: "the host has failed meanwhile; the request was not sent")
    }
    isProbe = admitted
  }

  func responded(status: Int) {
    // The attempt reports a failure of the whole origin when it ends.
    guard !LoadError(.status, message: "", status: status).isOfWholeOrigin else { return }
    originResponded()
  }

  func redirected(to next: ImageURL) {
    currentURL = next
    if next.origin != url.origin { originResponded() }
  }

  private func originResponded() {
    hasResponded = true
    guard isProbe else { return }
    isProbe = false
    controller.responded(url.origin)
  }

  /// Records that the transfer stopped before a response; the request may go out again.
  func stopped() {
    guard isProbe else { return }
    isProbe = false
    controller.probeEnded(url.origin)
  }

  /// Records the number of bytes kept after the transfer ended.
  func kept(_ count: Int, of total: Int?) { progress.kept(count, of: total) }
}

/// How far the bytes of an image have come with an attempt.
struct AttemptProgress {
  /// The number of bytes before the attempt.
  private let start: Int
  /// The largest number of bytes so far.
  private(set) var furthest: Int
  /// Whether the attempt received a substantial part of the image.
  private(set) var isSubstantial = false

  init(start: Int) { (self.start, furthest) = (start, start) }

  mutating func kept(_ count: Int, of total: Int?) {
    let gain = count - start
    furthest = max(furthest, count)
    // 64 KiB, or a tenth of the missing bytes, is enough to justify another connection.
    isSubstantial = gain >= 64 << 10 || gain > 0 && total.map { gain >= ($0 - start + 9) / 10 } ?? false
  }
}

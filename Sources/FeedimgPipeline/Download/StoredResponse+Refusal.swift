import FeedimgHTTPCache
import FeedimgModel

extension StoredResponse {
  /// Returns the error for an unsuccessful response, which says how long to remember it.
  func refusal(of url: ImageURL) -> LoadError {
    // Some servers and caches send 304 for an unconditional request.
    let surprise = head.status == 304 ? " to an unconditional request" : ""
    var error = LoadError(
      .status,
      url: url,
      message: "the server responded with \(HTTPStatus.text(head.status))\(surprise)",
      status: head.status,
      retryAfter: RetryAfter.seconds(head.fields, now: DeltaSeconds.whole(respondedAt))
    )
    error.suspectsCaptivePortal = CaptivePortal.isStatus(head.status)
    error.retry.lifetime = NegativeResponse.lifetime(self)
    return error
  }
}

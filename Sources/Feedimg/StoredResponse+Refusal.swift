import FeedimgCache
import FeedimgModel
import FeedimgTransfer

extension StoredResponse {
  /// Why an answer that is no success brings no image, and for how long that is to be believed.
  func refusal(of url: ImageURL) -> LoadError {
    // Servers and caches on the way are known to say so to who has nothing.
    let surprise = head.status == 304 ? ", though it was told of no image that is here" : ""
    var error = LoadError(
      .status,
      url: url,
      message: "the server answered \(HTTPStatus.text(head.status))\(surprise)",
      status: head.status,
      retryAfter: RetryAfter.seconds(head.fields, now: DeltaSeconds.whole(respondedAt))
    )
    error.suspectsCaptivePortal = CaptivePortal.isStatus(head.status)
    error.negativeLifetime = NegativeResponse.lifetime(self)
    return error
  }
}

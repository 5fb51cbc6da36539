package import FeedimgModel
import Synchronization

/// A response whose head has arrived and whose body is arriving.
package final class StreamingResponse: Sendable {
  /// The response in the form in which it would be stored.
  package let response: StoredResponse
  /// The media type recognized from the body; nil for responses that are not images.
  package let mediaType: String?
  package let body = ResponseStream()
  private let isClaimed = Atomic(false)

  init(_ response: StoredResponse, mediaType: String? = nil) {
    self.response = response
    self.mediaType = mediaType
  }

  /// Returns true for the first call only: the request was made for that caller.
  package func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }
}

package import FeedimgModel
import Synchronization

/// A response whose head has come, with its body on the way.
package final class StreamingResponse: Sendable {
  /// The response as it would be stored.
  package let response: StoredResponse
  /// The type of the body, as its bytes tell; nil where that was not looked for.
  package let mediaType: String?
  package let body = ResponseStream()
  private let isClaimed = Atomic(false)

  init(_ response: StoredResponse, mediaType: String? = nil) {
    self.response = response
    self.mediaType = mediaType
  }

  /// Whether this call is the first; the request was made for that caller.
  package func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }
}

package import FeedimgModel
import Synchronization

/// An answer whose head has come, with its body on the way.
package final class Arrival: Sendable {
  /// What brings the body.
  package let answer: StoredAnswer
  /// What the body is; nil where nobody has looked.
  package let mediaType: String?
  package let body = ArrivingBody()
  private let isClaimed = Atomic(false)

  init(_ answer: StoredAnswer, mediaType: String? = nil) {
    self.answer = answer
    self.mediaType = mediaType
  }

  /// Whether this is the first who asks; the answer was made for that one.
  package func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }
}

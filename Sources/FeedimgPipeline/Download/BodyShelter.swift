import FeedimgModel
import Synchronization

/// Has a body that arrives held in memory only as far as it is not on disk.
final class BodyShelter: Sendable {
  /// Made when there is more than is held anyway, since most bodies are short.
  private let reader = Mutex<(any WrittenReading)?>(nil)

  /// Takes note of what one writer has written.
  ///
  /// - Parameters:
  ///   - writer: Always the same one.
  ///   - count: How many bytes, from the first of the body on.
  ///   - body: What came.
  func note(_ writer: any ImageWriting, holds count: Int, of body: ResponseStream) {
    guard count > ResponseStream.window else { return }
    let known = reader.withLock { $0 }
    guard let written = known ?? writer.makeReader() else { return }
    if known == nil { reader.withLock { $0 = written } }
    body.note(written, holding: count)
  }
}

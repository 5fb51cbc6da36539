import FeedimgModel
import Synchronization

/// Lets a stream free the bytes of an arriving body that the disk already has.
final class BodyBuffer: Sendable {
  /// Reads the file of the body; created once the body is longer than ``ResponseStream/window``.
  private let reader = Mutex<(any WrittenReading)?>(nil)

  /// Records how much of a body a writer has written.
  ///
  /// - Parameters:
  ///   - writer: The writer; the same one in each call.
  ///   - count: The number of bytes in the file, from the start of the body.
  ///   - body: The stream that may free these bytes.
  func note(_ writer: any ImageWriting, holds count: Int, of body: ResponseStream) {
    guard count > ResponseStream.window else { return }
    let known = reader.withLock { $0 }
    guard let written = known ?? writer.makeReader() else { return }
    if known == nil { reader.withLock { $0 = written } }
    body.note(written, holding: count)
  }
}

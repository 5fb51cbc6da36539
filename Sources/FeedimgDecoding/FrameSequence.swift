package import FeedimgModel

/// Reads the frames of an encoded image until its end, damage or the limit; used by one thread.
package final class FrameSequence {
  private let reader: FrameReader
  private let limit: Int
  private var count = 0
  private var isOver = false
  /// Whether frames are missing because of damage or the limit.
  private(set) var isPartial = false

  /// Reads at most `limit` frames; dropped frames make the sequence partial.
  init(_ reader: FrameReader, limit: Int) { (self.reader, self.limit) = (reader, limit) }

  /// How many times the animation plays; nil for endless.
  package var loopCount: Int? { reader.loopCount }

  /// The next frame; nil after the last.
  package func next() throws(DecodeError) -> ImageAnimation.Frame? {
    guard !isOver else { return nil }
    do throws(DecodeError) {
      guard let frame = try reader.next() else {
        guard count > 0 else { throw DecodeError(.damaged, "the \(reader.codec) picture is empty") }
        isOver = true
        return nil
      }
      guard count < limit else {
        (isOver, isPartial) = (true, true)
        return nil
      }
      count += 1
      // No frame follows a truncated one.
      (isOver, isPartial) = (frame.isPartial, frame.isPartial)
      return ImageAnimation.Frame(bitmap: frame.bitmap, duration: frame.duration)
    } catch {
      isOver = true
      guard error.code == .damaged, reader.request.damage == .show, count > 0 else { throw error }
      isPartial = true
      return nil
    }
  }
}

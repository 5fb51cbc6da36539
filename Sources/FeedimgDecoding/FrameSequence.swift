import FeedimgModel

/// The frames of an encoded image one after the other, as far as damage and limits let them come; used by one thread.
final class FrameSequence {
  private let reader: FrameReader
  private let codec: Codec
  private let request: DecodeRequest
  private let limit: Int
  private var count = 0
  private var isOver = false
  /// Whether frames are missing, as the file is damaged or there is a limit.
  private(set) var isPartial = false

  /// At most as many as the limit says; what is left out then makes the sequence partial.
  init(_ reader: FrameReader, _ codec: Codec, _ request: DecodeRequest, limit: Int) {
    self.reader = reader
    self.codec = codec
    self.request = request
    self.limit = limit
  }

  /// How often the animation is shown; nil for ever.
  var loopCount: Int? { reader.loopCount }

  /// The next frame; nil behind the last, after which there is none.
  func next() throws(DecodeError) -> ImageAnimation.Frame? {
    guard !isOver else { return nil }
    do throws(DecodeError) {
      guard let frame = try reader.next() else {
        guard count > 0 else { throw DecodeError(.damaged, "the \(codec) picture is empty") }
        isOver = true
        return nil
      }
      guard count < limit else {
        (isOver, isPartial) = (true, true)
        return nil
      }
      count += 1
      // Behind a frame that is cut off there is nothing.
      (isOver, isPartial) = (frame.isPartial, frame.isPartial)
      return ImageAnimation.Frame(bitmap: frame.bitmap, duration: frame.duration)
    } catch {
      isOver = true
      guard error.code == .damaged, request.damage == .show, count > 0 else { throw error }
      isPartial = true
      return nil
    }
  }
}

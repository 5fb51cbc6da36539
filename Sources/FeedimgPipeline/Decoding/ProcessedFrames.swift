import FeedimgModel

/// The frames of an animation after the processors of a request.
final class ProcessedFrames: FrameReading {
  private let frames: any FrameReading
  private let request: DecodeRequest

  init(_ frames: any FrameReading, _ request: DecodeRequest) {
    (self.frames, self.request) = (frames, request)
  }

  var loopCount: Int? { frames.loopCount }

  func next() async throws(DecodeError) -> ImageAnimation.Frame? {
    guard var frame = try await frames.next() else { return nil }
    frame.bitmap = try request.processed(frame.bitmap)
    return frame
  }
}

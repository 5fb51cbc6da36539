/// Reads the frames of an animation once, in order (a port). See ``ImageDecoding/frames(_:_:)``.
public protocol FrameReading: AnyObject, Sendable {
  /// The number of repetitions of the animation; nil for endless.
  var loopCount: Int? { get }

  /// Decodes the next frame at the requested size, on another thread.
  ///
  /// Call it again only after the previous call has returned. Cancelling the task soon ends the reading for
  /// good.
  ///
  /// - Returns: Nil after the last available or permitted frame.
  /// - Throws: ``DecodeError``. No further frame follows.
  func next() async throws(DecodeError) -> ImageAnimation.Frame?
}

extension ImageDecoding {
  /// Returns the frames of ``animation(_:_:)`` one by one.
  public func frames(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> any FrameReading {
    DecodedFrames(try await animation(bytes, request))
  }
}

/// Frames that are already decoded.
private actor DecodedFrames: FrameReading {
  nonisolated let loopCount: Int?
  private var rest: ArraySlice<ImageAnimation.Frame>

  init(_ animation: ImageAnimation) {
    loopCount = animation.loopCount
    rest = animation.frames[...]
  }

  func next() -> ImageAnimation.Frame? { rest.popFirst() }
}

/// One pass over the frames of an animation, see ``ImageDecoding/frames(_:_:)`` (a port).
public protocol FrameReading: AnyObject, Sendable {
  /// How often the animation is shown; nil for ever.
  var loopCount: Int? { get }

  /// Decodes the next frame at the size asked, on another thread.
  ///
  /// Asked again only when the last call has returned. Cancelling the task ends the pass soon, for good.
  ///
  /// - Returns: Nil behind the last frame that is there, or is allowed.
  /// - Throws: ``DecodeError``; nothing follows then.
  func next() async throws(DecodeError) -> ImageAnimation.Frame?
}

extension ImageDecoding {
  /// Gives the frames of ``animation(_:_:)`` one after the other.
  public func frames(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> any FrameReading {
    DecodedFrames(try await animation(bytes, request))
  }
}

/// Frames that are there already.
private actor DecodedFrames: FrameReading {
  nonisolated let loopCount: Int?
  private var rest: ArraySlice<ImageAnimation.Frame>

  init(_ animation: ImageAnimation) {
    loopCount = animation.loopCount
    rest = animation.frames[...]
  }

  func next() -> ImageAnimation.Frame? { rest.popFirst() }
}

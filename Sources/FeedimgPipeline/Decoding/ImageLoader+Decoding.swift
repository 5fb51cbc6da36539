public import FeedimgModel

extension ImageLoader {
  /// The pixels of an image that was loaded, at the size asked: from memory, or decoded now on another thread.
  ///
  /// Pixels of whole images are kept in memory by their size, apart from encoded images, and give way first when
  /// memory is short. Whoever asks for pixels that are being made waits for those; cancelling the task leaves them, and
  /// the last one to leave stops the decoder.
  ///
  /// - Parameters:
  ///   - image: As ``load(_:pixels:facts:priority:progress:)`` gave it.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: The picture upright, in sRGB; never enlarged.
  /// - Throws: ``DecodeError``; `unavailable` where the configuration has no decoder.
  public func decode(
    _ image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> Bitmap {
    try await decodingDesk().bitmap(image.bytes, of: image.variant.url, request)
  }

  /// The frames of an animated image that was loaded, such as the one that a slot shows, one by one.
  ///
  /// Slots and loads give the first frame alone, and ``LoadedImage/isAnimated`` says whether there are others. They are
  /// decoded on another thread while they are played, and not kept:
  ///
  /// ```swift
  /// let frames = try await loader.frames(of: image, request)
  /// for try await frame in frames {
  ///   imageView.draw(frame.bitmap)
  ///   try await Task.sleep(for: frame.duration)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - image: As ``Presentation/image`` or ``load(_:pixels:facts:priority:progress:)`` gave it.
  ///   - request: At which size, and what is to be done about damage: a pass over the frames fails at it, or ends.
  /// - Returns: The frames, each with its duration; of a still image, its only one.
  /// - Throws: ``DecodeError``; `unavailable` where the configuration has no decoder.
  public func frames(
    of image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> AnimationFrames {
    try await AnimationFrames(image.bytes, request, on: decodingDesk())
  }

  /// All frames of an animated image at once, as for another format; ``frames(of:_:)`` is for those who play them.
  ///
  /// They are not kept in memory here, and there are as many as the limits of the decoder allow; each takes four bytes
  /// a pixel. Cancelling the task stops the decoder.
  ///
  /// - Parameters:
  ///   - image: As ``Presentation/image`` or ``load(_:pixels:facts:priority:progress:)`` gave it.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: The frames, each with its duration; of a still image, its only one.
  /// - Throws: ``DecodeError``; `unavailable` where the configuration has no decoder.
  public func animation(
    _ image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    try await decodingDesk().animation(image.bytes, request)
  }

  private func decodingDesk() throws(DecodeError) -> DecodingDesk {
    guard let pixels else {
      throw DecodeError(.unavailable, "the configuration of the loader has no decoder")
    }
    return pixels
  }
}

public import FeedimgModel

extension ImageLoader {
  /// Returns the pixels of a loaded image at the requested size.
  ///
  /// The pixels come from memory, or a decoder makes them on another thread. Memory keeps the pixels of
  /// complete images by their size, apart from encoded images. Under memory pressure it evicts decoded pixels
  /// first. Callers that want the same pixels at the same time share one decoding. The decoder stops when the
  /// last of these callers cancels its task.
  ///
  /// - Parameters:
  ///   - image: An image that ``load(_:pixels:facts:priority:cache:policy:progress:)`` returned.
  ///   - request: The size of the picture, and how to treat a damaged image.
  /// - Returns: The picture, upright and in sRGB. It is never enlarged.
  /// - Throws: ``DecodeError``, with `unavailable` if the configuration has no decoder.
  public func decode(
    _ image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> Bitmap {
    try await decodingQueue().bitmap(image.bytes, of: image.variant.url, request)
  }

  /// Returns the frames of an animated image one by one; the image may come from a load or a slot.
  ///
  /// Slots and loads decode only the first frame; ``LoadedImage/isAnimated`` tells whether there are more.
  /// The decoder makes the other frames on another thread during playback, and memory does not keep them:
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
  ///   - image: An image from ``Presentation/image`` or ``load(_:pixels:facts:priority:cache:policy:progress:)``.
  ///   - request: The size of the frames, and whether a pass fails or ends at a damaged frame.
  /// - Returns: The frames, each with its duration; a still image has one.
  /// - Throws: ``DecodeError``, with `unavailable` if the configuration has no decoder.
  public func frames(
    of image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> AnimationFrames {
    try await AnimationFrames(image.bytes, request, on: decodingQueue())
  }

  /// Returns all frames of an animated image at once, for example to convert it.
  ///
  /// To play it, use ``frames(of:_:)``.
  ///
  /// Memory does not keep the frames. Each frame takes four bytes a pixel, and the decoder limits their
  /// number. The decoder stops when the caller cancels the task.
  ///
  /// - Parameters:
  ///   - image: An image from ``Presentation/image`` or ``load(_:pixels:facts:priority:cache:policy:progress:)``.
  ///   - request: The size of the frames, and how to treat a damaged image.
  /// - Returns: The frames, each with its duration; a still image has one.
  /// - Throws: ``DecodeError``, with `unavailable` if the configuration has no decoder.
  public func animation(
    _ image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    try await decodingQueue().animation(image.bytes, request)
  }

  private func decodingQueue() throws(DecodeError) -> DecodingQueue {
    guard let pixels = resources.pixels else {
      throw DecodeError(.unavailable, "the configuration of the loader has no decoder")
    }
    return pixels
  }
}

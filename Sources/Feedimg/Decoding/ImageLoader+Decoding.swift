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
    guard let pixels else {
      throw DecodeError(.unavailable, "the configuration of the loader has no decoder")
    }
    return try await pixels.bitmap(image.bytes, of: image.variant.url, request)
  }
}

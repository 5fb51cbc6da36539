import FeedimgCache
public import FeedimgModel

extension ImageLoader {
  /// The pixels of an image that was loaded, at the size asked: from memory, or decoded now on another thread.
  ///
  /// Pixels of whole images are kept in memory by their size, apart from encoded images, and give way first when
  /// memory is short.
  ///
  /// - Parameters:
  ///   - image: As ``load(_:facts:progress:)`` gave it.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: The picture upright, in sRGB; never enlarged.
  /// - Throws: ``DecodeError``; `unavailable` where the configuration has no decoder.
  public func decode(
    _ image: LoadedImage,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> Bitmap {
    guard let decoder else {
      throw DecodeError(.unavailable, "the configuration of the loader has no decoder")
    }
    let key = request.size.map { DecodedKey(url: image.variant.url.key, size: $0, format: request.format) }
    if let key, let bitmap = memory[key, of: image.bytes] { return bitmap }
    let decoded = try await decoder.decode(image.bytes, request)
    if let key, !decoded.isPartial { memory.insert(decoded.bitmap, for: key, of: image.bytes) }
    return decoded.bitmap
  }
}

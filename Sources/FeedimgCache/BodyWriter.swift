import FeedimgModel

/// Writes one image into the disk cache.
///
/// Sendable because the port promises that only one thread uses a writer at a time.
final class BodyWriter: ImageWriting, @unchecked Sendable {
  private let cache: DiskCache
  /// Nil once the writer has been finished, one way or the other.
  private var incoming: IncomingBody?

  init(cache: DiskCache) throws(CacheError) {
    self.cache = cache
    do throws(FileFault) {
      incoming = try IncomingBody(in: cache.folder)
    } catch {
      throw CacheError(.folder, error.description)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
    guard var body = incoming.take() else { throw Self.finished }
    do throws(FileFault) {
      try body.write(bytes)
    } catch {
      throw CacheError(.body, error.description)
    }
    incoming = consume body
  }

  func commit(_ metadata: ImageMetadata) throws(CacheError) -> StoredImage {
    guard let body = incoming.take() else { throw Self.finished }
    return try cache.store(body, metadata)
  }

  func setAside(_ metadata: ImageMetadata) throws(CacheError) {
    guard let body = incoming.take() else { throw Self.finished }
    try cache.setAside(body, metadata)
  }

  func discard() { _ = incoming.take() }

  private static let finished = CacheError(
    .body,
    "cannot write an image that was finished or given up before"
  )
}

import FeedimgModel

/// Writes one image into the disk cache.
///
/// Sendable because the port promises that only one thread uses a writer at a time.
final class BodyWriter: ImageWriting, @unchecked Sendable {
  private let cache: DiskCache
  /// Nil once the writer has been finished, one way or the other.
  private var incoming: IncomingBody?
  /// Where the note is that the body has been announced by.
  private var announcement: String?

  init(cache: DiskCache) throws(CacheError) {
    self.cache = cache
    do throws(FileFault) {
      incoming = try IncomingBody(in: cache.folder)
    } catch {
      throw cache.refusal(error, .folder, size: 0)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
    guard var body = incoming.take() else { throw Self.finished }
    do throws(FileFault) {
      try body.write(bytes)
    } catch {
      throw cache.refusal(error, .body, size: body.size + bytes.count)
    }
    incoming = consume body
  }

  func makeReader() -> (any WrittenReading)? {
    guard let body = incoming.take() else { return nil }
    let reader = BodyReader(again: body.descriptor)
    incoming = consume body
    return reader
  }

  func commit(_ metadata: ImageMetadata) throws(CacheError) -> StoredImage {
    guard let body = incoming.take() else { throw Self.finished }
    defer { withdraw() }
    return try cache.store(body, metadata)
  }

  func commit(
    _ metadata: ImageMetadata,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage {
    guard let body = incoming.take() else { throw Self.finished }
    defer { withdraw() }
    return try await cache.store(body, metadata, later)
  }

  func announce(_ metadata: ImageMetadata) {
    guard let body = incoming.take() else { return }
    let path = cache.announce(body, metadata)
    if path != announcement { withdraw() }
    announcement = path
    incoming = consume body
  }

  func setAside(_ metadata: ImageMetadata) throws(CacheError) {
    guard let body = incoming.take() else { throw Self.finished }
    defer { withdraw() }
    // What follows the bytes then must not be taken for some of them after a kill.
    if announcement != nil, cache.announce(body, metadata, size: body.size) == nil { withdraw() }
    try cache.setAside(body, metadata)
  }

  func discard() {
    guard let body = incoming.take() else { return }
    withdraw()
    _ = consume body
  }

  private func withdraw() {
    if let path = announcement.take() { cache.withdrawAnnouncement(at: path) }
  }

  private static let finished = CacheError(
    .body,
    "cannot write an image that was finished or given up before"
  )
}

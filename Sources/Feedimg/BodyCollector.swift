import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Takes the body of an image: into memory for the caller, and into the cache for the next time.
///
/// Refuses what is no success and what is no image as early as it shows. Trouble with the cache never fails the
/// load; it is noted.
final class BodyCollector: BodyReceiving {
  private struct State {
    var head: ResponseHead?
    var bytes: [UInt8] = []
    var mediaType: String?
    /// Why the image is not kept, once that is so.
    var obstacle: String?
  }

  /// Guards the body as it grows; the transfer's thread adds, and the loader reads when the transfer is over.
  private let state = Mutex(State())
  private let url: ImageURL
  /// Nil where the cache could not begin to write.
  private let writer: (any ImageWriting)?
  private let progress: (@Sendable (LoadProgress) -> Void)?

  /// - Parameters:
  ///   - url: For the messages.
  ///   - progress: Called on the transfer's thread whenever bytes have arrived.
  ///   - makeWriter: Begins to write into the cache; may fail.
  init(
    url: ImageURL,
    progress: (@Sendable (LoadProgress) -> Void)?,
    makeWriter: () throws(CacheError) -> any ImageWriting
  ) {
    self.url = url
    self.progress = progress
    do throws(CacheError) {
      writer = try makeWriter()
    } catch {
      writer = nil
      state.withLock { $0.obstacle = "not kept: \(error)" }
    }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    guard head.status == 200 || head.status == 203 else {
      throw LoadError(
        .status,
        url: url,
        message: "the server answered \(HTTPStatus.text(head.status))",
        status: head.status,
        retryAfter: RetryAfter.seconds(head.fields, now: Int(SystemClock.seconds()))
      )
    }
    state.withLock { state in
      state.head = head
      state.bytes.reserveCapacity(min(head.contentLength ?? 0, 1 << 20))
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let (received, total, isKept) = try state.withLock { state throws(LoadError) in
      state.bytes.append(contentsOf: bytes)
      if state.mediaType == nil, state.bytes.count >= MediaType.prefixLength {
        state.mediaType = try recognise(state)
      }
      return (state.bytes.count, state.head?.contentLength, state.obstacle == nil)
    }
    if isKept { keeping { writer throws(CacheError) in try writer.write(bytes) } }
    progress?(LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) }))
  }

  /// Ends the image: checks that it is whole, and makes it visible in the cache.
  ///
  /// - Parameters:
  ///   - variant: What was asked for.
  ///   - mayKeep: Whether the answer allows to be stored.
  /// - Returns: The image, with the file that keeps it unless it is not kept.
  /// - Throws: ``LoadError`` when the body is no image, or not a whole one.
  func finish(variant: ImageVariant, mayKeep: Bool) throws(LoadError) -> FetchedImage {
    let body = state.withLock { $0 }
    guard let head = body.head else {
      throw LoadError(.malformed, url: url, message: "the server sent no answer")
    }
    let mediaType = if let known = body.mediaType { known } else { try recognise(body) }
    if head.endsByClosing, !ImageStructure.isWhole(body.bytes, mediaType: mediaType) {
      throw LoadError(.truncated, url: url, message: "the connection closed before the image was whole")
    }
    var path: String?
    if !mayKeep {
      state.withLock { $0.obstacle = "not kept: the server forbids it (`no-store`)" }
    } else if body.obstacle == nil {
      let metadata = ImageMetadata(key: variant.url.key, role: variant.role, mediaType: mediaType, head: head)
      keeping { writer throws(CacheError) in path = try writer.commit(metadata).path }
    }
    return FetchedImage(
      bytes: body.bytes,
      mediaType: mediaType,
      path: path,
      source: .network,
      notes: [state.withLock { $0.obstacle }].compactMap { $0 }
    )
  }

  /// Leaves nothing behind unless the image was finished.
  func discard() { writer?.discard() }

  private func keeping(_ work: (any ImageWriting) throws(CacheError) -> Void) {
    guard let writer else { return }
    do throws(CacheError) {
      try work(writer)
    } catch {
      writer.discard()
      state.withLock { $0.obstacle = "not kept: \(error)" }
    }
  }

  private func recognise(_ body: State) throws(LoadError) -> String {
    let declared = body.head?.fields["Content-Type"]
    guard !body.bytes.isEmpty else {
      throw LoadError(.notAnImage, url: url, message: "the server sent an empty body instead of an image")
    }
    let prefix = Array(body.bytes.prefix(MediaType.prefixLength))
    if let mediaType = MediaType.sniff(prefix, declared: declared) { return mediaType }
    let sent = declared.map { "`\($0)`" } ?? "a body without a type"
    throw LoadError(.notAnImage, url: url, message: "the server sent \(sent), which is no image known here")
  }
}

import FeedimgCache
import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Takes the body of an image: into memory for the caller, and into the cache for the next time.
///
/// Refuses what is no success and what is no image as early as it shows. Trouble with the cache never fails the
/// load; it is noted.
final class BodyCollector: BodyReceiving {
  private struct State {
    var answer: StoredAnswer?
    var bytes: [UInt8] = []
    var mediaType: String?
    /// Why the image is not kept, once that is so.
    var obstacle: String?
  }

  /// Guards the body as it grows; the transfer's thread adds, and the loader reads when the transfer is over.
  private let state = Mutex(State())
  private let transfer: ImageTransfer
  private let requestedAt: Double
  /// Nil where the cache could not begin to write.
  private let writer: (any ImageWriting)?

  /// Begins to write into the cache, as far as that can be written.
  init(_ transfer: ImageTransfer) {
    self.transfer = transfer
    requestedAt = transfer.loader.clock()
    do throws(CacheError) {
      writer = try transfer.loader.store.makeWriter()
    } catch {
      writer = nil
      state.withLock { $0.obstacle = "not kept: \(error)" }
    }
  }

  private var url: ImageURL { transfer.variant.url }

  /// What the server said with 304; nil unless it answered so.
  var notModified: StoredAnswer? { state.withLock { $0.answer?.head.status == 304 ? $0.answer : nil } }

  func begin(_ head: ResponseHead) throws(LoadError) {
    let now = transfer.loader.clock()
    let answer = StoredAnswer(
      head: head,
      varied: Vary(head.fields).select(from: transfer.loader.identity.sent),
      requestedAt: requestedAt,
      respondedAt: now
    )
    let isNotModified = head.status == 304 && !transfer.question.fields.isEmpty
    guard isNotModified || head.status == 200 || head.status == 203 else {
      var error = LoadError(
        .status,
        url: url,
        message: "the server answered \(HTTPStatus.text(head.status))",
        status: head.status,
        retryAfter: RetryAfter.seconds(head.fields, now: DeltaSeconds.whole(now))
      )
      error.suspectsCaptivePortal = CaptivePortal.isStatus(head.status)
      throw error
    }
    state.withLock { state in
      state.answer = answer
      if !storageAllowed(head: head) { state.obstacle = "not kept: the server forbids it (`no-store`)" }
      state.bytes.reserveCapacity(min(head.contentLength ?? 0, 1 << 20))
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let (received, total, isKept) = try state.withLock { state throws(LoadError) in
      state.bytes.append(contentsOf: bytes)
      if state.mediaType == nil, state.bytes.count >= MediaType.prefixLength {
        state.mediaType = try recognise(state)
      }
      return (state.bytes.count, state.answer?.head.contentLength, state.obstacle == nil)
    }
    if isKept { keeping { writer throws(CacheError) in try writer.write(bytes) } }
    transfer.progress(LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) }))
  }

  /// Ends the image: checks that it is whole, and makes it visible in the cache.
  ///
  /// - Returns: The image, with the file that keeps it unless it is not kept.
  /// - Throws: ``LoadError`` when the body is no image, or not a whole one.
  func finish() throws(LoadError) -> FetchedImage {
    let body = state.withLock { $0 }
    guard let answer = body.answer else {
      throw LoadError(.malformed, url: url, message: "the server sent no answer")
    }
    let mediaType = if let known = body.mediaType { known } else { try recognise(body) }
    if answer.head.endsByClosing, !ImageStructure.isWhole(body.bytes, mediaType: mediaType) {
      throw LoadError(.truncated, url: url, message: "the connection closed before the image was whole")
    }
    var path: String?
    if body.obstacle == nil {
      let variant = transfer.variant
      let metadata = ImageMetadata(
        key: variant.url.key,
        role: variant.role,
        mediaType: mediaType,
        answer: answer
      )
      keeping { writer throws(CacheError) in path = try writer.commit(metadata).path }
    }
    return FetchedImage(
      bytes: body.bytes,
      mediaType: mediaType,
      path: path,
      source: .network,
      answer: answer,
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
    let declared = body.answer?.head.fields["Content-Type"]
    guard !body.bytes.isEmpty else {
      throw LoadError(.notAnImage, url: url, message: "the server sent an empty body instead of an image")
    }
    let prefix = Array(body.bytes.prefix(MediaType.prefixLength))
    if let mediaType = MediaType.sniff(prefix, declared: declared) { return mediaType }
    let sent = declared.map { "`\($0)`" } ?? "a body without a type"
    var error = LoadError(
      .notAnImage,
      url: url,
      message: "the server sent \(sent), which is no image known here"
    )
    error.suspectsCaptivePortal = CaptivePortal.isPage(mediaType: declared, prefix: prefix)
    throw error
  }
}

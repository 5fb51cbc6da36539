import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Synchronization

/// Receives one response, in parts if it takes several requests (RFC 9110 §14, RFC 9111 §3.4).
///
/// One object serves all requests of an attempt: when a transfer stops, its bytes stay, and the next request
/// asks for the rest. On the transfer's thread, each chunk goes straight into memory, the stream and the file.
/// A ``RequestReceiver`` passes it the response to one request.
final class IncomingResponse: Sendable {
  /// The request, and the use of its response.
  struct Purpose: Sendable {
    var url: ImageURL
    /// The longest accepted body; a longer one fails with `tooLarge`.
    var limit: ByteCount
    /// The fields of the request that `Vary` may name.
    var sent: HTTPFields
    var kind: Kind
    /// The reason why a response is not stored; nil if it is stored.
    var storageObstacle: @Sendable (StoredResponse) -> String?
    var makeWriter: @Sendable () throws(CacheError) -> any ImageWriting

    var isImage: Bool { if case .image = kind { true } else { false } }
    var image: Image? { if case .image(let image) = kind { image } else { nil } }
    var resource: Resource? { if case .resource(let resource) = kind { resource } else { nil } }
  }

  /// The two kinds of responses.
  enum Kind: Sendable {
    case image(Image)
    case resource(Resource)
  }

  /// An image, of which only a success is accepted.
  ///
  /// The media type is recognized, and the bytes are collected.
  struct Image: Sendable {
    /// Whether 304 is a valid response, because the request carries validators of a stored one.
    var isConditional: Bool
    /// Returns the metadata to store with a body of a media type.
    var metadata: @Sendable (StoredResponse, _ mediaType: String) -> ImageMetadata
  }

  /// A response of any kind to `GET /v1/fetch`, which readers read while it arrives.
  struct Resource: Sendable {
    /// Whether the request asks for the head only.
    var isHead: Bool
    /// Whether a request for the rest is possible; false if the request itself asks for a closed range.
    var isResumable: Bool
    /// Rejects a response by its head.
    var check: @Sendable (ResponseHead) throws(LoadError) -> Void
    /// Whether readers may read the body of a response.
    var isStreamed: @Sendable (ResponseHead) -> Bool
  }

  /// Receives events of a request for the pipeline, on the transfer's thread.
  typealias Listener = @Sendable (Event) -> Void

  /// An event that the transfer's thread reports to the pipeline.
  enum Event: Sendable {
    case responded(status: Int)
    case redirected(ImageURL)
    /// The number of body bytes since the last event.
    case received(Int)
  }

  /// The bytes since the last report to one listener.
  private struct Backlog {
    var count = 0
    /// The time of the last report; nil to report the next bytes at once.
    var reportedAt: Duration?

    /// Adds bytes.
    ///
    /// - Returns: The bytes to report now, after the interval or at the limit; zero otherwise.
    mutating func add(_ bytes: Int, at now: Duration, interval: Duration, limit: Int = .max) -> Int {
      count += bytes
      guard count >= limit || reportedAt.map({ now - $0 >= interval }) ?? true else { return 0 }
      reportedAt = now
      return take()
    }

    mutating func take() -> Int {
      defer { count = 0 }
      return count
    }
  }

  /// The body so far, and the responses that it comes from.
  private struct Body {
    /// The response to which the bytes so far belong, as if it had the whole body; its status may be
    /// 304.
    var response: StoredResponse?
    /// The head of the latest response with bytes; the request for the rest relies on it.
    var lastHead: ResponseHead?
    /// The bytes of an image; other responses only count theirs.
    var bytes: [UInt8] = []
    /// The position in the whole body of the first byte; not zero if the request itself asks for a range.
    var start = 0
    var count = 0
    /// The number of these bytes that the disk has as a partial download.
    var storedCount = 0
    var mediaType: String?
    var scans = ScanSelector()

    var progress: LoadProgress {
      LoadProgress(received: ByteCount(count), total: response?.head.contentLength.map { ByteCount($0) })
    }
  }

  /// The file of the body.
  private struct BodyFile {
    /// The reason why the body is not stored; nil while it may be stored.
    var obstacle: String?
    var writer: (any ImageWriting)?
    /// Reads the file for slow readers; created once the body is longer than ``ResponseStream/window``.
    var written: (any WrittenReading)?
  }

  /// The current request, and its response.
  private struct Request {
    var startedAt: Double
    var resumption: Resumption?
    var hasResponse = false
    /// Whether the arriving bytes belong to the body.
    var isReceiving = false
    /// Whether the bytes so far are useless, so that the next request asks for the whole body.
    var startsOver = false
    /// Whether to ignore all bytes that still arrive.
    var isStopped = false
  }

  /// The bytes to report.
  private struct Backlogs {
    /// For the callers, of the current request.
    var progress = Backlog()
    /// For the measurement of the link and for programs that show all transfers.
    var totals = Backlog()
    /// For the scheduler.
    var schedule: Backlog
  }

  private struct State {
    var body = Body()
    var file = BodyFile()
    var request: Request
    var backlogs: Backlogs
    var stream: StreamingResponse?
    /// Whether the disk has a partial download; it is removed when another response replaces it.
    var hasPartial = false
    /// The number of restarts left when the network path changes during a response that cannot resume.
    var restartsLeft = 2
  }

  private let purpose: Purpose
  private let load: InFlightLoad
  // Parts of the resources. All of them would keep the downloader alive in libcurl's callbacks.
  private let clock: @Sendable () -> Double
  private let time: MonotonicTime
  private let scheduler: DownloadScheduler
  private let liveness: NetworkLiveness
  private let transfers: TransferRegistry
  let reporter = LoadEventReporter.present
  /// Guards the response as it grows.
  private let state: Mutex<State>
  private let memory = BodyMemory(.cached)

  init(_ purpose: Purpose, _ load: InFlightLoad, of resources: LoaderResources) {
    (self.purpose, self.load, clock, time) = (purpose, load, resources.clock, resources.time)
    (scheduler, transfers) = (resources.transport.scheduler, resources.loads.transfers)
    liveness = resources.transport.retries.liveness
    let now = resources.time.now()
    // A retry continues the stream that readers already have.
    state = Mutex(
      State(
        request: Request(startedAt: resources.clock()),
        backlogs: Backlogs(schedule: Backlog(reportedAt: now)),
        stream: load.response
      )
    )
  }

  // MARK: Requests

  /// Continues a partial download from the disk; called before the first request.
  func resume(_ partial: PartialDownload) {
    guard partial.response.matches(purpose.sent) else { return }
    state.withLock { state in
      state.body = Body(
        response: partial.response,
        lastHead: partial.response.head,
        bytes: partial.bytes,
        count: partial.bytes.count,
        storedCount: partial.bytes.count
      )
      state.hasPartial = true
      state.body.mediaType = ImageFormat.sniff(
        Array(partial.bytes.prefix(ImageFormat.prefixLength)),
        declared: partial.response.head.fields["Content-Type"]
      )
    }
  }

  /// Prepares a request.
  ///
  /// - Returns: The fields that request the rest; empty to request the whole body.
  func prepare() -> HTTPFields {
    let (requestedAt, now) = (clock(), time.now())
    return state.withLock { state in
      state.request = Request(startedAt: requestedAt, resumption: resumption(state.body))
      (state.backlogs.progress.reportedAt, state.backlogs.totals.reportedAt) = (nil, nil)
      state.backlogs.schedule.reportedAt = now
      return state.request.resumption?.fields ?? HTTPFields()
    }
  }

  /// How to request the rest once `more` bytes have arrived; nil if there are none or resuming is not safe.
  private func resumption(_ body: Body, after more: Int = 0) -> Resumption? {
    guard purpose.resource?.isResumable != false, let head = body.lastHead else { return nil }
    return Resumption(head, kept: body.start + body.count + more, now: DeltaSeconds.whole(clock()))
  }

  var hasResponse: Bool { state.withLock { $0.request.hasResponse } }

  /// Whether the transfer failed only because the whole body must be requested again.
  var startsOver: Bool { state.withLock { $0.request.startsOver } }

  /// Whether the server sent less than requested, so that the rest can be requested at once.
  var lacksRest: Bool {
    state.withLock { state in
      guard state.request.isReceiving, let total = state.body.response?.head.contentLength,
        state.body.count > state.body.storedCount
      else {
        return false
      }
      return state.body.start + state.body.count < total && resumption(state.body) != nil
    }
  }

  /// Stops the current request if the bytes so far can be resumed.
  ///
  /// - Parameter isConnectionDead: Whether the connection is probably dead, which also justifies a restart.
  /// - Returns: Whether the request stopped.
  func stop(isConnectionDead: Bool = false) -> Bool {
    let wantsStream = load.wantsStream
    return state.withLock { state in
      // A server that has shown support for range requests will send only the rest.
      let isPromised = resumption(state.body, after: 1)?.supportsRanges == true
      if state.request.isReceiving, !isPromised {
        // Bytes of another response must not replace those that a reader already has.
        guard isConnectionDead, state.restartsLeft > 0, !wantsStream else { return false }
        state.restartsLeft -= 1
      }
      state.request.isStopped = true
      return true
    }
  }

  // MARK: The head

  func begin(_ head: ResponseHead, _ onEvent: Listener) throws(LoadError) {
    scheduler.link.withLock { $0.respond(at: time.now()) }
    reporter?.report(.responded(status: head.status))
    onEvent(.responded(status: head.status))
    // Ignore a response after the stop, because its effects could not be undone.
    let (isStopped, requestedAt) = state.withLock { state in
      state.request.hasResponse = true
      return (state.request.isStopped, state.request.startedAt)
    }
    if isStopped { throw Self.stopped }
    try purpose.resource?.check(head)
    let response = StoredResponse(
      head: head,
      varied: Vary(head.fields).select(from: purpose.sent),
      requestedAt: requestedAt,
      respondedAt: clock()
    )
    switch try step(response) {
    case .append: try append(response)
    case .complete:
      state.withLock { state in
        state.body.response?.head.contentLength = state.body.count
        state.body.response?.head.endsByClosing = false
      }
      copyPartialDownload()
    case .replace: try replace(response)
    case .startOver:
      state.withLock { state in
        discardBody(&state)
        state.request.startsOver = true
      }
      throw LoadError(
        .truncated,
        url: purpose.url,
        message: "the server does not resume the interrupted download"
      )
    case .error: throw response.refusal(of: purpose.url)
    }
  }

  private func step(_ response: StoredResponse) throws(LoadError) -> Resumption.Step {
    let head = response.head
    let isNotModified = head.status == 304 && purpose.image?.isConditional == true
    if let resumption = state.withLock({ $0.request.resumption }), !isNotModified {
      return resumption.step(head)
    }
    guard purpose.isImage else { return .replace }
    return [200, 203].contains(head.status) || isNotModified ? .replace : .error
  }

  /// Replaces the earlier bytes with a response that has the whole body or none.
  private func replace(_ response: StoredResponse) throws(LoadError) {
    let (old, stream) = state.withLock { ($0, $0.stream) }
    if let stream, response.head.status != 304 { try continueStream(stream, with: response) }
    if let old = old.file.writer, !keepPartial() {
      old.discard()
      state.withLock { $0.file.writer = nil }
    }
    let start = response.head.part?.lowerBound ?? 0
    let obstacle = purpose.storageObstacle(response)
    let isStreamed = purpose.resource?.isStreamed(response.head) == true
    let streaming = isStreamed ? stream ?? StreamingResponse(response) : stream
    try state.withLock { state throws(LoadError) in
      if state.request.isStopped { throw Self.stopped }
      discardBody(&state)
      (state.body.response, state.body.lastHead, state.body.start) = (response, response.head, start)
      state.request.isReceiving = response.head.status != 304
      (state.file.obstacle, state.stream) = (obstacle, streaming)
      if purpose.isImage { state.body.bytes.reserveCapacity(min(response.head.contentLength ?? 0, 1 << 20)) }
    }
    if obstacle == nil, response.head.status != 304 { openWriter(response) }
    if isStreamed, stream == nil, let streaming { load.stream(streaming) }
    if purpose.isImage, response.head.status != 304 { try announce() }
  }

  /// Checks that a response may continue a stream that readers already have.
  ///
  /// Only the same version of the image may follow.
  private func continueStream(_ stream: StreamingResponse, with response: StoredResponse) throws(LoadError) {
    let (old, new) = (stream.response, response)
    guard old.head.status == new.head.status || new.head.status == 206,
      Validators(of: old).rangeCondition != nil, Validators(of: old).isSameVersion(as: Validators(of: new))
    else {
      let error = LoadError(
        .truncated,
        url: purpose.url,
        message: "the image changed while its transfer was interrupted"
      )
      stream.body.end(error)
      throw error
    }
  }

  /// Appends a part to the bytes so far.
  private func append(_ part: StoredResponse) throws(LoadError) {
    let count = try state.withLock { state throws(LoadError) in
      if state.request.isStopped { throw Self.stopped }
      if purpose.isImage {
        state.body.response = state.body.response?.completed(by: part, state.request.resumption)
      }
      (state.body.lastHead, state.request.isReceiving) = (part.head, true)
      return state.body.count
    }
    reporter?.report(.resumed(ByteCount(count)))
    copyPartialDownload()
    try announce()
  }

  /// Passes the bytes of a partial download to a new file and to readers, unless this attempt received them.
  private func copyPartialDownload() {
    let (body, file) = state.withLock { ($0.body, $0.file) }
    guard purpose.isImage, file.writer == nil, let response = body.response else { return }
    if let obstacle = purpose.storageObstacle(response) {
      state.withLock { $0.file.obstacle = obstacle }
    } else {
      openWriter(response)
      let writer = state.withLock { $0.file.writer }
      if let writer { body.bytes.withUnsafeBytes { _ = write($0, to: writer) } }
    }
    let stream = state.withLock { $0.stream }
    body.bytes.withUnsafeBytes { streamImage($0, end: body.count, to: stream) }
  }

  /// Reports the length to the callers before the body arrives.
  private func announce() throws(LoadError) {
    let progress = state.withLock { $0.body.progress }
    if let total = progress.total, purpose.isImage, total > purpose.limit { throw tooLarge }
    try load.report(progress)
  }

  private func discardBody(_ state: inout State) {
    (state.body, state.file, state.request.isReceiving) = (Body(), BodyFile(), false)
  }

  // MARK: The body

  /// Takes a chunk, with one lock for the response; another one only if the callers hear of it.
  ///
  /// Totals hear of the first bytes, and then at most every 16 ms.
  func receive(_ bytes: UnsafeRawBufferPointer, _ onEvent: Listener) throws(LoadError) {
    let now = time.now()
    let chunk = try state.withLock { state throws(LoadError) in try take(bytes, at: now, &state) }
    let limitsChanged = chunk.totals > 0 && received(chunk.totals, at: now)
    let unrecorded = limitsChanged ? state.withLock { $0.backlogs.schedule.take() } : 0
    if chunk.schedule + unrecorded > 0 {
      onEvent(.received(chunk.schedule + unrecorded))
      liveness.responded()
    }
    guard let progress = chunk.progress else { return }
    let count = progress.received.bytes
    if purpose.isImage, count > purpose.limit.bytes { throw tooLarge }
    if purpose.isImage {
      streamImage(bytes, end: count, to: chunk.stream)
    } else {
      chunk.stream?.body.append(bytes, at: count - bytes.count)
    }
    if let writer = chunk.writer, write(bytes, to: writer), let stream = chunk.stream,
      count > ResponseStream.window
    {
      let written = chunk.written ?? writer.makeReader()
      if chunk.written == nil { state.withLock { $0.file.written = written } }
      if let written { stream.body.note(written, holding: count) }
    }
    if count > BodyMemory.uncounted {
      let held = (purpose.isImage ? count : 0) + (chunk.stream?.body.heldCount ?? 0)
      guard memory.hold(held, limit: purpose.limit.bytes.addingClamped(purpose.limit.bytes / 2)) else {
        throw BodyMemory.shortage(purpose.url)
      }
    }
    if chunk.totals > 0 { transfers.notify() }
    // Also record unreported bytes: if the server pauses here, the transfer register still shows them.
    guard chunk.isReported else { return load.note(progress.received) }
    reporter?.report(.progress(progress))
    try load.report(progress)
  }

  /// Measures the link; returns whether the limits changed.
  private func received(_ bytes: Int, at now: Duration) -> Bool {
    let date = clock()
    return scheduler.link.withLock { $0.receive(bytes, at: now, date: date) }
  }

  /// The consequences of a chunk that was added to the response.
  private struct Chunk {
    /// The body so far; nil if the chunk does not belong to the body.
    var progress: LoadProgress?
    /// The bytes to report to the totals and to the scheduler now.
    var totals = 0
    var schedule = 0
    /// Whether the callers hear of it.
    var isReported = false
    var stream: StreamingResponse?
    var writer: (any ImageWriting)?
    var written: (any WrittenReading)?
  }

  private func take(
    _ bytes: UnsafeRawBufferPointer,
    at now: Duration,
    _ state: inout State
  ) throws(LoadError) -> Chunk {
    if state.request.isStopped { throw Self.stopped }
    var chunk = Chunk()
    chunk.totals = state.backlogs.totals.add(bytes.count, at: now, interval: .milliseconds(16))
    // The scheduler hears of bytes ten times a second.
    chunk.schedule = state.backlogs.schedule.add(bytes.count, at: now, interval: .milliseconds(100))
    guard state.request.isReceiving else { return chunk }
    if purpose.isImage { state.body.bytes.append(contentsOf: bytes) }
    state.body.count += bytes.count
    if purpose.isImage, state.body.mediaType == nil, state.body.count >= ImageFormat.prefixLength {
      state.body.mediaType = try recognise(state.body)
    }
    // Callers hear of the first bytes of each request, then every 16 ms or 16 KiB, so that data limits can
    // stop the transfer.
    let due = state.backlogs.progress.add(bytes.count, at: now, interval: .milliseconds(16), limit: 16 << 10)
    (chunk.progress, chunk.isReported) = (state.body.progress, due > 0)
    (chunk.stream, chunk.writer, chunk.written) = (state.stream, state.file.writer, state.file.written)
    return chunk
  }

  /// Reports the remaining bytes after the transfer has ended.
  func flush() {
    let (progress, totals) = state.withLock { state -> (LoadProgress?, Int) in
      let totals = state.backlogs.totals.take()
      guard state.backlogs.progress.take() > 0 else { return (nil, totals) }
      return (state.body.progress, totals)
    }
    if totals > 0 { _ = received(totals, at: time.now()) }
    guard let progress else { return }
    reporter?.report(.progress(progress))
    try? load.report(progress)
  }

  // MARK: Streaming

  /// Passes an image to readers as it arrives, once its type is known.
  private func streamImage(_ bytes: UnsafeRawBufferPointer, end: Int, to stream: StreamingResponse?) {
    if let stream { return stream.body.append(bytes, at: end - bytes.count) }
    guard load.wantsStream else { return }
    let (response, mediaType, start) = state.withLock { ($0.body.response, $0.body.mediaType, $0.body.bytes) }
    guard let response, let mediaType else { return }
    let stream = StreamingResponse(response, mediaType: mediaType)
    start.withUnsafeBytes { stream.body.append($0, at: 0) }
    state.withLock { $0.stream = stream }
    load.stream(stream)
  }

  /// Returns the latest scan of a progressive image that is worth showing.
  func scan() -> ScanSelector.Scan? {
    state.withLock { state in
      guard state.request.isReceiving else { return nil }
      return state.body.scans.latest(in: state.body.bytes, of: state.body.response?.head.contentLength)
    }
  }

  // MARK: The file

  private func openWriter(_ response: StoredResponse) {
    do throws(CacheError) {
      let writer = try purpose.makeWriter()
      state.withLock { $0.file.writer = writer }
      // Metadata on disk let a large image resume even if the process is killed.
      if let image = purpose.image, response.head.contentLength ?? .max >= 256 << 10,
        Resumption(response.head, kept: 1, now: DeltaSeconds.whole(clock())) != nil
      {
        writer.writeRecoveryRecord(image.metadata(response, ""))
      }
    } catch {
      state.withLock { $0.file.obstacle = "not kept: \(error)" }
    }
  }

  /// Writes bytes to the file, and returns whether that succeeded; after a failure the body is not stored.
  private func write(_ bytes: UnsafeRawBufferPointer, to writer: any ImageWriting) -> Bool {
    do throws(CacheError) {
      try writer.write(bytes)
      return true
    } catch {
      fail(writer, error)
      return false
    }
  }

  private func fail(_ writer: any ImageWriting, _ error: CacheError) {
    writer.discard()
    state.withLock { ($0.file.writer, $0.file.obstacle) = (nil, "not kept: \(error)") }
  }

  /// Keeps the bytes so far as a partial download, if they are more than on disk and the rest can be
  /// requested.
  ///
  /// - Returns: Whether the bytes were kept.
  private func keepPartial() -> Bool {
    let (now, isResumable) = state.withLock { ($0, resumption($0.body) != nil) }
    guard let image = purpose.image, let writer = now.file.writer, let response = now.body.response,
      let mediaType = now.body.mediaType,
      now.body.count > now.body.storedCount, now.file.obstacle == nil, isResumable
    else { return false }
    do throws(CacheError) {
      try writer.keepPartial(image.metadata(response, mediaType))
      state.withLock { state in
        (state.file.writer, state.body.storedCount, state.hasPartial) = (nil, state.body.count, true)
      }
      return true
    } catch {
      fail(writer, error)
      return false
    }
  }

  // MARK: The end

  /// A valid 304 response; nil for other responses.
  var notModified: StoredResponse? {
    state.withLock { $0.body.response?.head.status == 304 ? $0.body.response : nil }
  }

  struct Whole: Sendable {
    let response: StoredResponse
    let bytes: [UInt8]
    let mediaType: String
    let obstacle: String?
    let hasPartial: Bool
    /// Commits the body to the store; nil if it is not stored.
    let writer: (any ImageWriting)?
  }

  /// Checks that the body is complete.
  ///
  /// - Throws: ``LoadError`` if the body is incomplete or not an image.
  func finish() throws(LoadError) -> Whole {
    let end = state.withLock { $0 }
    let body = end.body
    guard let response = body.response else {
      throw LoadError(.malformed, url: purpose.url, message: "the server sent no response")
    }
    var mediaType = body.mediaType ?? ""
    if purpose.isImage, body.mediaType == nil { mediaType = try recognise(body) }
    let announced = purpose.isImage ? response.head.contentLength : response.head.bodyLength
    if let total = announced, body.count != total, purpose.resource?.isHead != true {
      let message = "the body ended after \(body.count) of \(total) bytes"
      throw LoadError(.truncated, url: purpose.url, message: message)
    }
    if purpose.isImage, response.head.endsByClosing,
      ImageFormat(mediaType: mediaType)?.isWhole(body.bytes) == false
    {
      throw LoadError(.truncated, url: purpose.url, message: "the body ended before the image was whole")
    }
    state.withLock { $0.file.writer = nil }
    return Whole(
      response: response,
      bytes: body.bytes,
      mediaType: mediaType,
      obstacle: end.file.obstacle,
      hasPartial: end.hasPartial,
      writer: end.file.writer
    )
  }

  /// Whether bytes may be kept if the transfer fails.
  var hasBody: Bool { state.withLock { $0.body.response.map { $0.head.status != 304 } ?? false } }

  /// Ends a failed transfer, and keeps its bytes if a later request can resume them.
  ///
  /// - Parameters:
  ///   - error: The failure.
  ///   - removePartial: Called if the partial download on disk is useless.
  /// - Returns: The numbers of bytes kept before, kept now and in all; nil if nothing new was kept.
  func interrupt(_ error: LoadError, removePartial: () -> Void) -> (before: Int, count: Int, total: Int?)? {
    let (body, hasPartial) = state.withLock { ($0.body, $0.hasPartial) }
    guard let response = body.response, response.head.status != 304 else { return nil }
    // A failed request for the rest does not invalidate the bytes so far.
    let isSound = error.isInterruption || error.code == .status
    guard isSound, keepPartial() else {
      if hasPartial, body.mediaType != nil, body.storedCount == 0 || !isSound { removePartial() }
      return nil
    }
    return (body.storedCount, body.count, response.head.contentLength)
  }

  /// Discards the file unless the body was finished or kept.
  func discard() {
    let writer = state.withLock { $0.file.writer.take() }
    writer?.discard()
  }

  // MARK: Errors

  private func recognise(_ body: Body) throws(LoadError) -> String {
    try ImageFormat.recognise(
      body.bytes,
      declared: body.response?.head.fields["Content-Type"],
      from: purpose.url
    )
  }

  private var tooLarge: LoadError {
    LoadError(.tooLarge, url: purpose.url, message: "the body is longer than the limit of \(purpose.limit)")
  }

  private static var stopped: LoadError {
    LoadError(
      .cancelled,
      message: "the transfer stopped for a more urgent one or a new network path"
    )
  }
}

extension StoredResponse {
  /// The response of the whole body, completed by a part.
  ///
  /// A part may omit fields that the server sent before (RFC 9110 §15.3.7).
  fileprivate func completed(by part: StoredResponse, _ resumption: Resumption?) -> StoredResponse {
    var whole = updated(by: part)
    whole.head.status = 200
    whole.head.contentLength = resumption?.completeLength(after: part.head)
    whole.head.endsByClosing = part.head.endsByClosing && whole.head.contentLength == nil
    return whole
  }
}

extension ResponseHead {
  /// The announced length of the body of a response to `GET`; 204 and 304 have none (RFC 9110 §6.4.1).
  var bodyLength: Int? { status == 204 || status == 304 ? nil : contentLength }

  /// The range of the body in a 206 response; nil for other responses.
  fileprivate var part: ClosedRange<Int>? {
    guard status == 206, case .part(let range, _)? = contentRange else { return nil }
    return range
  }
}

/// Receives the response to one request of an ``IncomingResponse``.
struct RequestReceiver: BodyReceiving {
  let incoming: IncomingResponse
  let onEvent: IncomingResponse.Listener
  /// Counts the transferred bytes; nil if usage is not counted.
  let tally: UsageMeter.Tally?

  func begin(_ head: ResponseHead) throws(LoadError) { try incoming.begin(head, onEvent) }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) { try incoming.receive(bytes, onEvent) }

  func note(_ step: TransferStep) {
    switch step {
    case .moved(let count): tally?.add(count)
    case .requested:
      tally?.request()
      incoming.reporter?.report(.requested)
    case .redirected(let url):
      tally?.setURL(url)
      incoming.reporter?.report(.redirected(url))
      onEvent(.redirected(url))
    }
  }
}

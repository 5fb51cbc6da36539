import FeedimgCache
import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Takes the body of an image: into memory for the caller, and into the cache for the next time.
///
/// Refuses what is no success and what is no image as early as it shows. Trouble with the cache never fails the
/// load; it is noted.
final class BodyCollector: BodyReceiving {
  /// Guards the body as it grows; the transfer's thread adds, and the loader reads when the transfer is over.
  let state: Mutex<CollectedBody>
  let transfer: ImageTransfer
  private let limit: ByteCount
  /// Guards what broke off before, which is looked for once, when the first request goes out.
  private let past: Mutex<BodyContinuation?> = Mutex(nil)

  init(_ transfer: ImageTransfer, limit: ByteCount) {
    self.transfer = transfer
    self.limit = limit
    state = Mutex(CollectedBody(requestedAt: transfer.loader.clock()))
  }

  private func openWriter() {
    do throws(CacheError) {
      let writer = try transfer.loader.store.makeWriter()
      state.withLock { $0.writer = writer }
    } catch {
      state.withLock { $0.obstacle = "not kept: \(error)" }
    }
  }

  private var url: ImageURL { transfer.variant.url }

  private var continuation: BodyContinuation? { past.withLock { $0 } }

  /// What asks for the rest of an image that broke off; nothing where all of it is wanted, or before a request begins.
  var rangeFields: HTTPFields { continuation?.fields ?? HTTPFields() }

  /// What the server said with 304; nil unless it answered so.
  var notModified: StoredAnswer? { state.withLock { $0.answer?.head.status == 304 ? $0.answer : nil } }

  /// Whether the transfer has failed only so that it is asked for something else: for all, or for what is missing.
  var wantsMore: Bool {
    state.withLock { state in
      state.startsOver || state.endsEarly && state.bytes.count > state.kept && state.obstacle == nil
    }
  }

  // MARK: What arrives

  /// Begins to write into the cache, as far as that can be written, and looks for what is there already.
  ///
  /// Who waits for a place holds no file, and finds what others bring meanwhile.
  func requestBegins() {
    let isFirst = state.withLock { $0.writer == nil && $0.obstacle == nil }
    if isFirst {
      let continuation = transfer.continuation()
      past.withLock { $0 = continuation }
      state.withLock { $0.hasBeginning = continuation != nil }
      openWriter()
    }
    let now = transfer.loader.clock()
    state.withLock { $0.requestedAt = now }
  }

  /// What an earlier answer was written to, or announced by, is of no use to another.
  ///
  /// What it has brought is kept until the other one turns out to be an image.
  private func forgetAnswer() {
    guard let old = state.withLock({ $0.answer == nil ? nil : $0 }) else { return }
    let isKept = setAside(old)
    if !isKept { old.writer?.discard() }
    state.withLock {
      $0 = CollectedBody(requestedAt: old.requestedAt, hasBeginning: old.hasBeginning || isKept)
    }
    openWriter()
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    forgetAnswer()
    let answer = StoredAnswer(
      head: head,
      varied: Vary(head.fields).select(from: transfer.identity.sent),
      requestedAt: state.withLock { $0.requestedAt },
      respondedAt: transfer.loader.clock()
    )
    let isSame = head.status == 304 && transfer.namesVersion
    let isImage = isSame || head.status == 200 || head.status == 203
    let step = isSame ? nil : continuation?.step(answer)
    switch step ?? (isImage ? .replace : .refuse) {
    case .append(let whole):
      try goOn(whole)
      try announce()
    case .complete(let whole):
      try goOn(whole)
      state.withLock { $0.ignoresBody = true }
    case .replace:
      start(answer)
      if head.status != 304 { try announce() }
    case .startOver:
      state.withLock { $0.startsOver = true }
      transfer.loader.store.removeBeginning(of: url.key)
      throw LoadError(.malformed, url: url, message: "the server does not go on with what broke off")
    case .refuse: throw answer.refusal(of: url)
    }
  }

  /// Tells how much will come before it does; who finds it too much leaves.
  private func announce() throws(LoadError) {
    let (received, total) = state.withLock { ($0.bytes.count, $0.answer?.head.contentLength) }
    let progress = LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) })
    try transfer.run.reportIfWanted(progress)
  }

  private func start(_ answer: StoredAnswer) {
    state.withLock { state in
      state.answer = answer
      if !storageAllowed(head: answer.head) {
        state.obstacle = "not kept: the server forbids it (`no-store`)"
      }
      state.bytes.reserveCapacity(min(answer.head.contentLength ?? 0, 1 << 20))
    }
    guard answer.head.contentLength ?? .max >= Self.announcedLength, answer.head.status != 304,
      canGoOn(answer, behind: 1)
    else { return }
    state.withLock { $0.writer }?.announce(metadata(answer, ""))
  }

  /// What comes sooner than it would be asked for again need not outlive a kill.
  private static let announcedLength = 256 << 10

  private func goOn(_ whole: StoredAnswer) throws(LoadError) {
    guard let beginning = continuation?.beginning.bytes else { return }
    start(whole)
    state.withLock { $0.kept = beginning.count }
    transfer.resumes(behind: beginning.count)
    if let length = whole.head.contentLength, length > limit.bytes { throw tooLarge }
    var failure: LoadError?
    beginning.withUnsafeBytes { bytes in
      do throws(LoadError) { try take(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    guard !state.withLock({ $0.ignoresBody }) else { return }
    let (received, total) = try take(bytes)
    try transfer.progress(LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) }))
  }

  @discardableResult
  private func take(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> (received: Int, total: Int?) {
    let (received, total, isKept) = try state.withLock { state throws(LoadError) in
      state.bytes.append(contentsOf: bytes)
      if state.mediaType == nil, state.bytes.count >= MediaType.prefixLength {
        state.mediaType = try recognise(state)
      }
      return (state.bytes.count, state.answer?.head.contentLength, state.obstacle == nil)
    }
    guard received <= limit.bytes else { throw tooLarge }
    handOn(bytes, before: received)
    guard isKept else { return (received, total) }
    let (arrival, shelter) = state.withLock { ($0.arrival, $0.shelter) }
    keeping { writer throws(CacheError) in
      try writer.write(bytes)
      if let arrival { shelter.note(writer, holds: received, of: arrival.body) }
    }
    return (received, total)
  }

  /// What can be shown of the image before it is whole; nothing where that is not worth it.
  func scan() -> ArrivingScans.Scan? {
    state.withLock { $0.scans.latest(in: $0.bytes, of: $0.answer?.head.contentLength) }
  }

  /// Lets those have the image who want it as it comes, once it is known to be one.
  private func handOn(_ bytes: UnsafeRawBufferPointer, before end: Int) {
    if let arrival = state.withLock({ $0.arrival }) {
      return arrival.body.append(bytes, at: end - bytes.count)
    }
    guard transfer.run.hasAudience else { return }
    let (answer, mediaType, start, isNew) = state.withLock {
      ($0.answer, $0.mediaType, $0.bytes, $0.kept == 0)
    }
    guard let answer, let mediaType else { return }
    let arrival = transfer.run.arrival ?? Arrival(answer, mediaType: mediaType)
    let isFirst = transfer.run.arrival == nil
    // What another attempt has begun to hand on is gone on with only where it is the same version.
    guard isFirst || !isNew && Validators(of: answer).isSameVersion(as: Validators(of: arrival.answer)) else {
      return arrival.body.end(LoadError(.truncated, url: url, message: "the image changed while it came"))
    }
    start.withUnsafeBytes { arrival.body.append($0, at: 0) }
    state.withLock { $0.arrival = arrival }
    if isFirst { transfer.run.arrive(arrival) }
  }

  // MARK: The end

  /// Ends the image: checks that it is whole, and makes it visible in the cache.
  ///
  /// - Returns: The image, with the file that keeps it unless it is not kept.
  /// - Throws: ``LoadError`` when the body is no image, or not a whole one.
  func finish() async throws(LoadError) -> FetchedImage {
    let body = state.withLock { $0 }
    guard let answer = body.answer else {
      throw LoadError(.malformed, url: url, message: "the server sent no answer")
    }
    let mediaType = if let known = body.mediaType { known } else { try recognise(body) }
    if let total = answer.head.contentLength, body.bytes.count != total {
      state.withLock { $0.endsEarly = canGoOn(answer, behind: body.bytes.count) }
      let message = "the body ended after \(body.bytes.count) of \(total) bytes"
      throw LoadError(.truncated, url: url, message: message)
    }
    if answer.head.endsByClosing, !ImageStructure.isWhole(body.bytes, mediaType: mediaType) {
      throw LoadError(.truncated, url: url, message: "the body ended before the image was whole")
    }
    LoadWitness.tell(.verified(mediaType: mediaType))
    let stored = body.obstacle == nil ? await commit(metadata(answer, mediaType)) : nil
    if body.hasBeginning { transfer.loader.store.removeBeginning(of: url.key) }
    let obstacle = state.withLock { $0.obstacle }
    if let step = stored.map({ .stored(path: $0.path) }) ?? obstacle.map({ LoadEvent.Step.notStored($0) }) {
      LoadWitness.tell(step)
    }
    return FetchedImage(
      bytes: body.bytes,
      checksum: stored?.checksum,
      mediaType: mediaType,
      path: stored?.path,
      source: .network,
      answer: answer,
      notes: [obstacle].compactMap { $0 }
    )
  }

  /// Ends what has failed: what came of the image is kept, if the rest of it can be had another time.
  ///
  /// - Returns: What is kept; nil where that is no more than before.
  func breakOff(_ error: LoadError) -> BodyRemains? {
    let body = state.withLock { $0 }
    guard let answer = body.answer, answer.head.status != 304 else { return nil }
    // Who refuses the rest says nothing of what has come.
    let isSound = error.breaksOff || error.code == .status
    guard isSound, setAside(body) else {
      // Nothing was wrong with the beginning as long as the server has not sent another image.
      if body.hasBeginning, body.mediaType != nil, body.kept == 0 || !isSound {
        transfer.loader.store.removeBeginning(of: url.key)
      }
      return nil
    }
    return BodyRemains(before: body.kept, count: body.bytes.count, total: answer.head.contentLength)
  }

  /// Keeps what has come, if that is more than was kept before, and the rest can be had another time.
  private func setAside(_ body: CollectedBody) -> Bool {
    guard let answer = body.answer, let mediaType = body.mediaType, body.bytes.count > body.kept,
      body.obstacle == nil, canGoOn(answer, behind: body.bytes.count)
    else { return false }
    keeping { writer throws(CacheError) in try writer.setAside(metadata(answer, mediaType)) }
    return state.withLock { $0.writer != nil && $0.obstacle == nil }
  }

  private func canGoOn(_ answer: StoredAnswer, behind count: Int) -> Bool {
    Resumption(answer.head, kept: count, now: DeltaSeconds.whole(transfer.loader.clock())) != nil
  }

  /// Leaves nothing behind unless the image was finished.
  func discard() { state.withLock { $0.writer }?.discard() }

  private func metadata(_ answer: StoredAnswer, _ mediaType: String) -> ImageMetadata {
    ImageMetadata(key: url.key, role: transfer.variant.role, mediaType: mediaType, answer: answer)
  }

  // MARK: What goes wrong

  private func recognise(_ body: CollectedBody) throws(LoadError) -> String {
    try MediaType.recognise(body.bytes, declared: body.answer?.head.fields["Content-Type"], from: url)
  }

  private var tooLarge: LoadError {
    LoadError(.tooLarge, url: url, message: "the body is longer than the limit of \(limit)")
  }
}

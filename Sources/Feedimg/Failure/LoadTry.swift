import FeedimgModel
import Synchronization

/// One try of a load, from when it may ask its origin until it has an answer or none.
///
/// Whether its origin is asked at all, and whether it is this load that tries one in doubt, is settled when its request
/// goes out: nobody waits for one that itself still waits for its place, and what has waited there while others failed
/// is not sent after them. That the origin works shows with the head of an answer, however long the body takes.
final class LoadTry: Sendable {
  /// How a request may go out.
  enum Admission: Sendable {
    /// Others wait for its answer.
    case trial
    case free
  }

  private enum Phase: Sendable {
    /// It has to ask the desk before its request goes out.
    case waiting
    /// It tries on behalf of others, who wait for its answer.
    case trial
    /// Its request is out, as others may be.
    case sent
    /// Its origin has answered it, so that it goes on whatever becomes of others.
    case answered
    /// Its request did not go out, as its origin is left alone, or another load tries.
    case heldBack
  }

  private struct State {
    var phase = Phase.waiting
    var asked: Asked
    /// When its request went out.
    var begun: Duration
    /// Whether the answer that comes is an image.
    var isImage = false
  }

  /// Who is asked, which redirects change.
  private struct Asked {
    let url: ImageURL
    /// Whether that takes no network, so that its answers say nothing about one.
    let isLocal: Bool

    init(_ url: ImageURL) { (self.url, isLocal) = (url, url.isLoopback) }
  }

  private let url: ImageURL
  private let desk: FailureDesk
  private let insists: Bool
  /// The number of the trial that it is, where it tries a dead network.
  let trial: Int?
  private let first: Asked
  /// Guards how far it is, and where redirects have led; the transfer's thread tells of both.
  private let state: Mutex<State>
  /// How far the image had come before.
  private let start: Int
  /// Guards how far it has come, and whether that is a good part of what was missing.
  private let progress: Mutex<(count: Int, isGoodPart: Bool)>

  /// - Parameters:
  ///   - url: What is asked for.
  ///   - desk: Says whether it may be.
  ///   - insists: Whether to ask although the origin is left alone, as one load may.
  ///   - start: How many bytes of the image have been kept before, at most.
  ///   - trial: The number of the trial that it is, where it tries a dead network.
  init(
    _ url: ImageURL,
    _ desk: FailureDesk,
    insists: Bool = false,
    beyond start: Int = 0,
    trial: Int? = nil
  ) {
    (self.url, self.desk, self.insists, self.start, self.trial) = (url, desk, insists, start, trial)
    first = Asked(url)
    state = Mutex(State(asked: first, begun: desk.time.now()))
    progress = Mutex((start, false))
  }

  /// Whether it ended before it asked, and is to wait with the others.
  var isHeldBack: Bool { state.withLock { $0.phase == .heldBack } }

  /// So much of the image is kept where it broke off.
  func note(_ remains: BodyRemains) {
    progress.withLock { $0 = (max($0.count, remains.count), remains.isGoodPart(beyond: start)) }
  }

  /// Whether a good part of the image has come that had not come before, so that to go on is no repetition.
  var hasProgressed: Bool { progress.withLock { $0.isGoodPart } }

  /// How many bytes of the image have been kept by now, at most.
  var furthest: Int { progress.withLock { $0.count } }

  /// Whether others wait for it, as no answer has told yet that they may go on.
  var isTrial: Bool { state.withLock { $0.phase == .trial } }

  /// Whom it asked last: where redirects led is another server, and what fails there is not the first one's fault.
  var asked: ImageURL { state.withLock { $0.asked.url } }

  /// When its last request went out.
  var begun: Duration { state.withLock { $0.begun } }

  /// A failure of it, with whom it is about.
  func named(_ error: LoadError) -> LoadError {
    var error = error
    let origin = asked.origin
    error.origin = origin == url.origin ? nil : origin
    return error
  }

  /// What asks only if it may, and tells of the answer.
  func downloader(_ downloader: any Downloading) -> any Downloading {
    TryingDownloader(downloader: downloader, attempt: self)
  }

  /// A request is about to go out.
  ///
  /// - Throws: `cancelled` where it must not.
  fileprivate func begin() throws(LoadError) {
    let now = desk.time.now()
    let isToAsk = state.withLock { state in
      (state.asked, state.begun, state.isImage) = (first, now, false)
      return state.phase != .answered
    }
    guard isToAsk else { return }
    let next: Phase =
      switch desk.admit(url.origin, insisting: insists) {
      case .trial: .trial
      case .free: .sent
      case nil: .heldBack
      }
    state.withLock { $0.phase = next }
    guard next != .heldBack else {
      throw LoadError(.cancelled, message: "the host has failed meanwhile and is left alone")
    }
  }

  /// The head of an answer came.
  fileprivate func answered(_ head: ResponseHead) {
    let isImage = head.fields["content-type"]?.lowercased().hasPrefix("image/") == true
    let isLocal = state.withLock { state in
      state.isImage = isImage
      return state.asked.isLocal
    }
    if !isLocal { desk.heard(isImage: isImage) }
    // What speaks against the origin is told when the load fails for it.
    guard !CircuitBreaker.counts(LoadError(.status, message: "", status: head.status)) else { return }
    if leave(to: .answered) == .trial { desk.trialAnswered(url.origin) }
  }

  /// An answer says that the image is elsewhere.
  fileprivate func redirected(to next: ImageURL) {
    let asked = Asked(next)
    let wasLocal = state.withLock { state in
      defer { state.asked = asked }
      return state.asked.isLocal
    }
    if !wasLocal { desk.heard(isImage: false) }
    if next.origin != url.origin, leave(to: .answered) == .trial { desk.trialAnswered(url.origin) }
  }

  /// More of an answer came.
  fileprivate func received() {
    let (isLocal, isImage) = state.withLock { ($0.asked.isLocal, $0.isImage) }
    if !isLocal { desk.heard(isImage: isImage) }
  }

  /// Nothing was learned, as the transfer was stopped; it may go out again.
  fileprivate func stopped() { if leave(to: .waiting) == .trial { desk.trialStopped(url.origin) } }

  /// What it was while its request was out; nil if it was not, or has been answered.
  private func leave(to next: Phase) -> Phase? {
    state.withLock { state in
      guard state.phase == .trial || state.phase == .sent else { return nil }
      defer { state.phase = next }
      return state.phase
    }
  }
}

/// Lets the requests of one try go out, and tells it of their answers.
private struct TryingDownloader: Downloading {
  let downloader: any Downloading
  let attempt: LoadTry

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    try attempt.begin()
    do throws(LoadError) {
      return try await downloader.download(
        request,
        into: TryingReceiver(receiver: receiver, attempt: attempt)
      )
    } catch {
      if error.code == .cancelled { attempt.stopped() }
      throw error
    }
  }

  func forgetConnections() { downloader.forgetConnections() }
}

private struct TryingReceiver: BodyReceiving {
  let receiver: any BodyReceiving
  let attempt: LoadTry

  func requestBegins() { receiver.requestBegins() }

  func begin(_ head: ResponseHead) throws(LoadError) {
    attempt.answered(head)
    try receiver.begin(head)
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    attempt.received()
    try receiver.receive(bytes)
  }

  func note(_ step: TransferStep) {
    if case .redirected(let url) = step { attempt.redirected(to: url) }
    receiver.note(step)
  }
}

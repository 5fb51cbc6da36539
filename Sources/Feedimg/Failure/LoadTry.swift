import FeedimgModel
import Synchronization

/// One try of a load, from when it may ask its origin until it has an answer or none.
///
/// Whether a load is the one that tries an origin in doubt is settled when its request goes out, so that nobody waits
/// for one that itself still waits for its place. That the origin works shows with the head of an answer, however
/// long the body takes.
final class LoadTry: Sendable {
  /// How a request may go out.
  enum Admission: Sendable {
    /// Others wait for its answer.
    case trial
    case free
  }

  private enum Phase: Sendable {
    /// It has to ask once more before its request goes out.
    case inDoubt
    /// It tries on behalf of others, who wait for its answer.
    case trial
    case free
    /// Its request did not go out, as another load tries.
    case heldBack
  }

  private let origin: String
  private let desk: FailureDesk
  /// Guards how far it is; the transfer's thread tells of the answer.
  private let phase: Mutex<Phase>

  init(_ url: ImageURL, _ desk: FailureDesk, isInDoubt: Bool) {
    origin = url.origin
    self.desk = desk
    phase = Mutex(isInDoubt ? .inDoubt : .free)
  }

  /// Whether it ended before it asked, and is to wait with the others.
  var isHeldBack: Bool { phase.withLock { $0 == .heldBack } }

  /// What asks only if it may, and tells of the answer.
  func downloader(_ downloader: any Downloading) -> any Downloading {
    phase.withLock { $0 == .free } ? downloader : TryingDownloader(downloader: downloader, attempt: self)
  }

  /// A request is about to go out.
  ///
  /// - Throws: `cancelled` where it must not.
  fileprivate func begin() throws(LoadError) {
    guard phase.withLock({ $0 != .free }) else { return }
    let next: Phase =
      switch desk.admit(origin) {
      case .trial: .trial
      case .free: .free
      case nil: .heldBack
      }
    phase.withLock { $0 = next }
    guard next != .heldBack else {
      throw LoadError(.cancelled, message: "another load tries the host at this moment")
    }
  }

  /// The head of an answer came.
  fileprivate func answered(_ head: ResponseHead) {
    // What speaks against the origin is told when the load fails for it.
    guard !CircuitBreaker.counts(LoadError(.status, message: "", status: head.status)) else { return }
    if leave(to: .free) { desk.trialAnswered(origin) }
  }

  /// Nothing was learned, as the transfer was stopped; it may go out again.
  fileprivate func stopped() { if leave(to: .inDoubt) { desk.trialStopped(origin) } }

  /// Ends the trial; false if there was none.
  private func leave(to next: Phase) -> Bool {
    phase.withLock { phase in
      guard phase == .trial else { return false }
      phase = next
      return true
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

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) { try receiver.receive(bytes) }

  func note(_ step: TransferStep) { receiver.note(step) }
}

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

  private let origin: String
  private let desk: FailureDesk
  private let insists: Bool
  /// Guards how far it is; the transfer's thread tells of the answer.
  private let phase = Mutex(Phase.waiting)

  /// - Parameters:
  ///   - url: What is asked for.
  ///   - desk: Says whether it may be.
  ///   - insists: Whether to ask although the origin is left alone, as one load may.
  init(_ url: ImageURL, _ desk: FailureDesk, insists: Bool = false) {
    (origin, self.desk, self.insists) = (url.origin, desk, insists)
  }

  /// Whether it ended before it asked, and is to wait with the others.
  var isHeldBack: Bool { phase.withLock { $0 == .heldBack } }

  /// Whether others wait for it, as no answer has told yet that they may go on.
  var isTrial: Bool { phase.withLock { $0 == .trial } }

  /// What asks only if it may, and tells of the answer.
  func downloader(_ downloader: any Downloading) -> any Downloading {
    TryingDownloader(downloader: downloader, attempt: self)
  }

  /// A request is about to go out.
  ///
  /// - Throws: `cancelled` where it must not.
  fileprivate func begin() throws(LoadError) {
    guard phase.withLock({ $0 != .answered }) else { return }
    let next: Phase =
      switch desk.admit(origin, insisting: insists) {
      case .trial: .trial
      case .free: .sent
      case nil: .heldBack
      }
    phase.withLock { $0 = next }
    guard next != .heldBack else {
      throw LoadError(.cancelled, message: "the host has failed meanwhile and is left alone")
    }
  }

  /// The head of an answer came.
  fileprivate func answered(_ head: ResponseHead) {
    // What speaks against the origin is told when the load fails for it.
    guard !CircuitBreaker.counts(LoadError(.status, message: "", status: head.status)) else { return }
    if leave(to: .answered) == .trial { desk.trialAnswered(origin) }
  }

  /// Nothing was learned, as the transfer was stopped; it may go out again.
  fileprivate func stopped() { if leave(to: .waiting) == .trial { desk.trialStopped(origin) } }

  /// What it was while its request was out; nil if it was not, or has been answered.
  private func leave(to next: Phase) -> Phase? {
    phase.withLock { phase in
      guard phase == .trial || phase == .sent else { return nil }
      defer { phase = next }
      return phase
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

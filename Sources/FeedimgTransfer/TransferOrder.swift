import FeedimgModel
import Synchronization

/// One download that a caller waits for.
final class TransferOrder: @unchecked Sendable {
  // Unchecked: the caller sets the continuation before it submits the order, and curl's thread takes it afterwards.

  let request: DownloadRequest
  let receiver: any BodyReceiving
  /// Learns where the request was sent.
  let peer: LastPeer
  var continuation: UnsafeContinuation<Result<ResponseHead, LoadError>, Never>?
  /// Whether the caller cancelled it, perhaps before it was submitted.
  private let cancelled = Atomic(false)

  init(_ request: DownloadRequest, into receiver: any BodyReceiving, peer: LastPeer) {
    self.request = request
    self.receiver = receiver
    self.peer = peer
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  func cancel() { cancelled.store(true, ordering: .releasing) }

  /// Resumes the caller, once.
  func answer(_ result: Result<ResponseHead, LoadError>) { continuation.take()?.resume(returning: result) }

  func answerCancelled() { answer(.failure(LoadError(.cancelled, url: request.url, message: "cancelled"))) }
}

import FeedimgModel
import Synchronization

/// A download for which a caller waits.
final class TransferOrder: @unchecked Sendable {
  // Unchecked: the caller sets the continuation before it submits the order; afterwards only the
  // executor's thread takes it.

  let request: DownloadRequest
  let receiver: any BodyReceiving
  /// Receives the address that the request was sent to.
  let peer: LastPeer
  var continuation: UnsafeContinuation<Result<ResponseHead, LoadError>, Never>?
  /// Whether the caller has cancelled the order; it may do so before it submits the order.
  private let cancelled = Atomic(false)

  init(_ request: DownloadRequest, into receiver: any BodyReceiving, peer: LastPeer) {
    self.request = request
    self.receiver = receiver
    self.peer = peer
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  func cancel() { cancelled.store(true, ordering: .releasing) }

  /// Resumes the caller with the result; later calls do nothing.
  func complete(_ result: Result<ResponseHead, LoadError>) { continuation.take()?.resume(returning: result) }

  func completeCancelled() {
    complete(.failure(LoadError(.cancelled, url: request.url, message: "cancelled")))
  }
}

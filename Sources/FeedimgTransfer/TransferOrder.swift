import FeedimgModel
import Synchronization

/// One transfer that somebody waits for; a class, as it passes through many hands.
final class TransferOrder: @unchecked Sendable, Identifiable {
  // Unchecked: who waits sets the continuation before the order is submitted, and reads the result after it was
  // resumed; the transfer thread sets the result before it resumes.
  let id: Int
  let request: DownloadRequest
  let receiver: any BodyReceiving
  /// Learns whom the request was sent to.
  let peer: LastPeer
  /// Whether it was cancelled, perhaps before it was submitted.
  private let cancelled = Atomic(false)
  private var continuation: UnsafeContinuation<Void, Never>?
  private var result: Result<ResponseHead, LoadError>?

  init(id: Int, request: consuming DownloadRequest, receiver: any BodyReceiving, peer: LastPeer) {
    self.id = id
    self.request = request
    self.receiver = receiver
    self.peer = peer
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  func cancel() { cancelled.store(true, ordering: .releasing) }

  /// Waits for the answer.
  ///
  /// - Parameter submit: Sees to it that there will be one.
  func answered(_ submit: () -> Void) async {
    // Unsafe: one that is checked makes an object for each transfer, and an order is answered once, when it leaves
    // the transfers that run or is refused before it is one of them.
    await withUnsafeContinuation { continuation in
      self.continuation = continuation
      submit()
    }
  }

  /// Says how it ended, once.
  func answer(_ result: consuming Result<ResponseHead, LoadError>) {
    self.result = result
    continuation?.resume()
  }

  func answerCancelled() { answer(.failure(Self.cancellation(of: request))) }

  private static func cancellation(of request: DownloadRequest) -> LoadError {
    LoadError(.cancelled, url: request.url, message: "cancelled")
  }

  /// How it ended; asked once, after ``answered(_:)``.
  func outcome() throws(LoadError) -> ResponseHead {
    switch result.take() {
    case .success(let head): return head
    case .failure(let error): throw error
    case nil: throw Self.cancellation(of: request)
    }
  }
}

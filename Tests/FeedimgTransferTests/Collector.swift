import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Keeps the received bytes and may refuse them.
final class Collector: BodyReceiving {
  struct Content: Sendable {
    var heads: [ResponseHead] = []
    var bytes: [UInt8] = []
    var requests = 0
  }

  private let content = Mutex(Content())
  private let refusal: LoadError?
  private let acceptedBytes: Int

  /// - Parameters:
  ///   - refusal: The error to throw, if any.
  ///   - acceptedBytes: The receiver throws after more bytes than this. If negative, it throws at the head.
  init(refusing refusal: LoadError? = nil, after acceptedBytes: Int = 0) {
    self.refusal = refusal
    self.acceptedBytes = acceptedBytes
  }

  var heads: [ResponseHead] { content.withLock { $0.heads } }
  var bytes: [UInt8] { content.withLock { $0.bytes } }
  /// The number of sent requests.
  var requests: Int { content.withLock { $0.requests } }

  func begin(_ head: ResponseHead) throws(LoadError) {
    content.withLock { $0.heads.append(head) }
    if let refusal, acceptedBytes < 0 { throw refusal }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let count = content.withLock {
      $0.bytes.append(contentsOf: bytes)
      return $0.bytes.count
    }
    if let refusal, count > acceptedBytes { throw refusal }
  }

  func note(_ step: TransferStep) {
    if case .requested = step { content.withLock { $0.requests += 1 } }
  }
}

extension CurlDownloader {
  /// Performs a transfer that is expected to fail, and returns its error.
  func failure(_ request: DownloadRequest, into receiver: any BodyReceiving = Collector()) async -> LoadError?
  {
    do throws(LoadError) {
      _ = try await download(request, into: receiver)
      return nil
    } catch {
      return error
    }
  }
}

/// Bytes with a period that divides no buffer size, so that a missing or misplaced byte shows.
func pattern(_ count: Int) -> [UInt8] {
  var bytes = (0..<251).map { UInt8($0) }
  while bytes.count < count { bytes += bytes }
  return Array(bytes.prefix(count))
}

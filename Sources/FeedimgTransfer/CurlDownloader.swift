package import FeedimgModel
import Synchronization

/// Downloads with libcurl, on one thread that starts with the first transfer.
///
/// libcurl keeps connections, TLS sessions and resolved names for later transfers. Proxies come from the environment,
/// as libcurl reads it (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`). Servers get HTTP/2 where TLS agrees on
/// it. After a timeout on a shared connection, later transfers open a new one.
///
/// Requests ask for no content coding. gzip, deflate and Brotli that come anyway are decoded, and limits count the
/// decoded bytes. A request with its own `Accept-Encoding` gets the bytes as sent.
///
/// Callers limit the number of simultaneous transfers. Over HTTP/1.1 each has a connection of its own.
package final class CurlDownloader: Downloading {
  private let thread: CurlThread
  private let peer = LastPeer()

  /// - Parameters:
  ///   - userAgent: The value of `User-Agent`, such as `feedimg/1.0`.
  ///   - certificateFile: The authorities to trust in place of the system's, in PEM.
  ///   - addresses: The hosts that transfers may connect to.
  package convenience init(
    userAgent: String,
    certificateFile: String? = nil,
    addresses: AddressPolicy = .everything
  ) {
    self.init(
      userAgent: userAgent,
      certificateFile: certificateFile,
      addresses: addresses,
      libraryNames: CurlLibrary.fileNames
    )
  }

  init(
    userAgent: String,
    certificateFile: String?,
    addresses: AddressPolicy = .everything,
    libraryNames: [String]
  ) {
    let identity = CurlHandle.Identity(
      userAgent: userAgent,
      certificateFile: certificateFile,
      addresses: addresses
    )
    thread = CurlThread(identity, libraryNames: libraryNames)
  }

  deinit { thread.stop() }

  /// The address that the last request was sent to, such as `192.0.2.1`; nil before the first.
  package var lastPeer: String? { peer.address }

  package func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let order = TransferOrder(request, into: receiver, peer: peer)
    let result = await withTaskCancellationHandler {
      // Unsafe, as a checked continuation allocates for each transfer. An order is answered once: when it leaves the
      // running transfers, or when it is refused before.
      await withUnsafeContinuation { continuation in
        order.continuation = continuation
        if order.isCancelled { order.answerCancelled() } else { thread.submit(order) }
      }
    } onCancel: {
      order.cancel()
      thread.cancel(order)
    }
    return try result.get()
  }

  /// Runs tasks on curl's thread, between transfers.
  ///
  /// A caller on it starts and ends downloads without a thread hop. While such a task runs no bytes move, so it must
  /// take only short steps. Tasks that outlive the thread continue elsewhere.
  package var executor: any TaskExecutor { thread }

  /// Stops later transfers from using present connections and resolved names; call it when the network has changed.
  ///
  /// Running transfers continue.
  package func forgetConnections() { thread.forgetConnections() }

  /// Ends every transfer with `cancelled`, closes all connections, and returns after that.
  ///
  /// Later transfers fail likewise. A program that exits without it does the same in exit(3), and waits two seconds at
  /// most, as the libraries below libcurl clean up then.
  package func shutdown() async {
    thread.stop()
    await thread.ended()
  }
}

/// The address that the last request was sent to, which may be a proxy's.
final class LastPeer: Sendable {
  /// Guards the address, in libcurl's words.
  private let latest = Mutex<String?>(nil)

  /// Such as `192.0.2.1`; nil before the first request.
  var address: String? { latest.withLock { $0 } }

  func note(_ address: String) { latest.withLock { $0 = address } }
}

package import FeedimgModel
package import FeedimgSystem
import Synchronization

/// Downloads with libcurl, on the thread of an executor.
///
/// libcurl keeps connections, TLS sessions and resolved names for later transfers. It reads proxies from the
/// environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`) and uses HTTP/2 if the server
/// negotiates it in TLS. After a timeout on a shared connection, later transfers open a new one.
///
/// Requests ask for no content coding. If a server sends gzip, deflate or Brotli anyway, libcurl decodes the
/// body, and limits count the decoded bytes. A request with its own `Accept-Encoding` receives the bytes as
/// sent.
///
/// Callers limit the number of simultaneous transfers. Over HTTP/1.1, each transfer has its own connection.
package final class CurlDownloader: Downloading {
  private let transfers: CurlTransfers
  private let identity: CurlHandle.Identity
  private let peer = LastPeer()

  /// - Parameters:
  ///   - userAgent: The value of `User-Agent`, such as `feedimg/1.0`.
  ///   - certificateFile: A PEM file of the authorities to trust instead of the system's.
  ///   - clientCertificate: The certificate for servers that ask for one.
  ///   - proxy: The proxy of every request. Empty for none, nil for that of the environment.
  ///   - addresses: The hosts that transfers may connect to.
  ///   - libraryNames: The files of libcurl to try, in order. Nil for the usual ones.
  ///   - executor: The executor whose thread runs libcurl and calls the receivers. Nil for a new one. If the callers
  ///     run there as well, a transfer wakes one thread instead of two.
  package init(
    userAgent: String,
    certificateFile: String? = nil,
    clientCertificate: ClientKey? = nil,
    proxy: String? = nil,
    addresses: AddressPolicy = .everything,
    libraryNames: [String]? = nil,
    on executor: ThreadExecutor? = nil
  ) {
    identity = CurlHandle.Identity(
      userAgent: userAgent,
      certificateFile: certificateFile,
      clientCertificate: clientCertificate,
      proxy: proxy,
      addresses: addresses
    )
    transfers = CurlTransfers(identity, libraryNames: libraryNames ?? CurlLibrary.fileNames, on: executor)
  }

  deinit { transfers.stop() }

  /// The address that the last request was sent to, such as `192.0.2.1`; nil before the first request.
  package var lastPeer: String? { peer.address }

  package func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let order = TransferOrder(request, into: receiver, peer: peer)
    let result = await withTaskCancellationHandler {
      // A checked continuation would allocate memory for each transfer. An order resumes its caller exactly
      // once: when its transfer ends, or when the thread refuses the order.
      await withUnsafeContinuation { continuation in
        order.continuation = continuation
        if order.isCancelled { order.completeCancelled() } else { transfers.submit(order) }
      }
    } onCancel: {
      order.cancel()
      transfers.cancel(order)
    }
    return try result.get()
  }

  package func connect(to url: ImageURL, within limit: Duration) async throws(LoadError) -> Int32 {
    if let error = identity.addresses.rejection(of: url) { throw error }
    return try await CurlConnection(url, timeout: limit, addresses: identity.addresses).open(identity)
  }

  /// Makes later transfers open new connections and resolve names again; call it after a network change.
  ///
  /// Running transfers continue.
  package func forgetConnections() { transfers.forgetConnections() }
}

/// The address that the last request was sent to, which may be a proxy's.
final class LastPeer: Sendable {
  /// The address as libcurl writes it.
  private let latest = Mutex<String?>(nil)

  /// The address, such as `192.0.2.1`; nil before the first request.
  var address: String? { latest.withLock { $0 } }

  func note(_ address: String) { latest.withLock { $0 = address } }
}

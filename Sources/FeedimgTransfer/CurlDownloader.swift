package import FeedimgModel
import Synchronization

/// Fetches with libcurl, on one thread that starts with the first transfer.
///
/// Connections, TLS sessions and resolved names are kept for the next transfers. Proxies are those of the environment,
/// as libcurl reads it (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`). HTTP/2 is spoken where TLS agrees on it.
/// Where nothing comes in time over a connection that transfers share, those that begin later make a new one.
///
/// A server is asked for no content coding; gzip, deflate and Brotli that come all the same are undone, and limits
/// count the bytes that result. A request with its own `Accept-Encoding` gets the bytes as they were sent.
///
/// The number of simultaneous transfers is the caller's matter: each has a connection of its own unless HTTP/2 is
/// spoken.
package final class CurlDownloader: Downloading {
  private let thread: CurlThread
  private let lastID = Atomic(0)
  private let peer = LastPeer()

  /// - Parameters:
  ///   - userAgent: The value of `User-Agent`, such as `feedimg/1.0`.
  ///   - certificateFile: Whom to trust in place of the system's authorities, in PEM.
  ///   - reach: Whom to connect to.
  package convenience init(userAgent: String, certificateFile: String? = nil, reach: Reach = .everything) {
    self.init(
      userAgent: userAgent,
      certificateFile: certificateFile,
      reach: reach,
      libraryNames: CurlLibrary.fileNames
    )
  }

  init(userAgent: String, certificateFile: String?, reach: Reach = .everything, libraryNames: [String]) {
    let identity = CurlHandle.Identity(userAgent: userAgent, certificateFile: certificateFile, reach: reach)
    thread = CurlThread(identity, libraryNames: libraryNames)
  }

  deinit { thread.stop() }

  /// The address that a request was last sent to, such as `192.0.2.1`; nil before the first.
  package var lastPeer: String? { peer.address }

  package func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
    let order = TransferOrder(id: id, request: request, receiver: receiver, peer: peer)
    await withTaskCancellationHandler {
      await order.answered { if order.isCancelled { order.answerCancelled() } else { thread.submit(order) } }
    } onCancel: {
      // It may come before the thread knows of the order, and then is found when it begins.
      order.cancel()
      thread.cancel(id)
    }
    return try order.outcome()
  }

  /// Runs tasks on the transfer thread.
  ///
  /// For tasks that take only short steps between transfers, such as keeping what has arrived: to go to another thread
  /// and back costs a small image a third of its processor time. While a step takes its time no bytes move, so decoding
  /// does not belong here. Tasks that outlive the thread go on elsewhere.
  package var executor: any TaskExecutor { thread }

  /// Tells that the network has changed, so that no later transfer waits for a connection that leads nowhere.
  ///
  /// Connections and resolved names of before are not used again. Transfers under way go on; whether they still make
  /// sense is the caller's matter.
  package func forgetConnections() { thread.forgetConnections() }

  /// Ends every transfer with `cancelled`, closes all connections and returns when that is done.
  ///
  /// Later transfers fail likewise. Harmless when repeated. A program that ends without it does the same in exit(3),
  /// and waits for it for two seconds at most, as the libraries below libcurl clean up then.
  package func shutdown() async {
    thread.stop()
    await thread.ended()
  }
}

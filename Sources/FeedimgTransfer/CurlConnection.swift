import CCurl
import FeedimgModel
import FeedimgSystem
import Glibc

/// A connection for another protocol than HTTP, such as WebSocket.
///
/// libcurl connects as for a request: names, proxy, TLS and allowed addresses. A thread of its own then copies bytes
/// between libcurl and a local socket, and ends when either side closes.
///
/// Sendable because only its thread uses the variables.
final class CurlConnection: @unchecked Sendable {
  let url: ImageURL
  let timeout: Duration
  private let addresses: AddressPolicy
  /// The address that the policy forbids, if any.
  private var refused: IPAddress?

  private static let bufferSize = 64 << 10

  init(_ url: ImageURL, timeout: Duration, addresses: AddressPolicy) {
    (self.url, self.timeout, self.addresses) = (url, timeout, addresses)
  }

  /// Connects, and returns the local socket.
  ///
  /// - Throws: ``LoadError`` if there is no connection.
  func open(_ identity: CurlHandle.Identity) async throws(LoadError) -> Int32 {
    let result = await withUnsafeContinuation { continuation in
      let isStarted = SystemThread.start("feedimg-socket") { [self] in
        do throws(LoadError) {
          let handle = try connect(identity)
          var ends: [Int32] = [-1, -1]
          guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
          else { throw LoadError(.unavailable, url: url, message: "the system refuses a socket") }
          continuation.resume(returning: Result<Int32, LoadError>.success(ends[0]))
          var pump = Pump(handle: handle, local: ends[1])
          pump.run()
          close(ends[1])
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      guard !isStarted else { return }
      let error = LoadError(.unavailable, url: url, message: "the system refuses a thread")
      continuation.resume(returning: .failure(error))
    }
    return try result.get()
  }

  private func connect(_ identity: CurlHandle.Identity) throws(LoadError) -> CurlHandle {
    let library = try CurlLibrary.open()
    ccurl_prepare_thread()
    guard let handle = CurlHandle(library, identity: identity) else {
      throw LoadError(.unavailable, url: url, message: "libcurl ran out of memory")
    }
    try handle.prepare(self)
    let code = library.functions.easy_perform(handle.pointer)
    if let refused { throw AddressPolicy.error(host: url.host, refused, url) }
    let progress = CurlOutcome.Progress(url: url)
    if code != CURLE_OK, var error = handle.outcome(code, connectTimeout: timeout).error(progress) {
      error.url = url
      throw error
    }
    return handle
  }

  static let socketCallback: curl_opensocket_callback = { context, _, address in
    guard let context, let address else { return CURL_SOCKET_BAD }
    let connection = Unmanaged<CurlConnection>.fromOpaque(context).takeUnretainedValue()
    return connection.addresses.openSocket(address, &connection.refused)
  }

  /// Copies bytes in both directions until either side closes.
  struct Pump {
    let handle: CurlHandle
    let local: Int32
    private var (toServer, toClient) = (ArraySlice<UInt8>(), ArraySlice<UInt8>())
    private var isServerClosed = false
    /// Whether libcurl may hold more bytes, which it or the TLS library has read from the socket.
    private var mayHoldBytes = false
    private var buffer = [UInt8](repeating: 0, count: CurlConnection.bufferSize)

    init(handle: CurlHandle, local: Int32) { (self.handle, self.local) = (handle, local) }

    mutating func run() {
      while receiveFromServer(), sendToClient(), receiveFromClient(), sendToServer() {
        if isServerClosed && toClient.isEmpty { return }
        // The socket does not announce bytes that libcurl holds, so receive them all before each wait.
        guard mayHoldBytes && toClient.isEmpty || wait() else { return }
      }
    }

    private mutating func receiveFromServer() -> Bool {
      guard toClient.isEmpty, !isServerClosed else { return true }
      var count = 0
      let code = handle.library.functions.easy_recv(handle.pointer, &buffer, buffer.count, &count)
      toClient = Array(buffer[..<count])[...]
      mayHoldBytes = count > 0
      isServerClosed = code != CURLE_AGAIN && (code != CURLE_OK || count == 0)
      return true
    }

    private mutating func sendToServer() -> Bool {
      guard !toServer.isEmpty else { return true }
      var count = 0
      let code = toServer.withUnsafeBytes {
        handle.library.functions.easy_send(handle.pointer, $0.baseAddress, $0.count, &count)
      }
      toServer = toServer.dropFirst(count)
      return code == CURLE_OK || code == CURLE_AGAIN
    }

    private mutating func receiveFromClient() -> Bool {
      guard toServer.isEmpty else { return true }
      let count = recv(local, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { toServer = Array(buffer[..<count])[...] }
      return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    private mutating func sendToClient() -> Bool {
      guard !toClient.isEmpty else { return true }
      let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
      let count = toClient.withUnsafeBytes { send(local, $0.baseAddress, $0.count, flags) }
      toClient = toClient.dropFirst(max(0, count))
      return count >= 0 || errno == EAGAIN || errno == EINTR
    }

    /// Waits until one side has or takes bytes.
    private func wait() -> Bool {
      var sides = [
        side(local, reads: toServer.isEmpty, writes: !toClient.isEmpty),
        side(handle.socket, reads: toClient.isEmpty && !isServerClosed, writes: !toServer.isEmpty),
      ]
      return poll(&sides, 2, -1) >= 0 || errno == EINTR
    }

    /// A side without an event is left out, because poll(2) would report its end again and again.
    private func side(_ descriptor: Int32, reads: Bool, writes: Bool) -> pollfd {
      let events = Int16(truncatingIfNeeded: (reads ? POLLIN : 0) | (writes ? POLLOUT : 0))
      return pollfd(fd: events == 0 ? -1 : descriptor, events: events, revents: 0)
    }
  }
}

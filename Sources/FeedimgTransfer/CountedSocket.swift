import CCurl

/// A TCP socket of libcurl, with the kernel's count of received bytes.
struct CountedSocket {
  private let descriptor: Int32
  private let localPort: Int32
  /// The count when the request was sent; it covers earlier responses on the connection.
  private let before: Int

  /// - Returns: Nil if the descriptor is not the TCP socket with this local port.
  init?(_ descriptor: Int32, localPort: Int32) {
    let count = ccurl_received(descriptor, localPort, nil)
    guard count >= 0 else { return nil }
    self.descriptor = descriptor
    self.localPort = localPort
    before = Int(count)
  }

  /// The bytes received since the request, TLS included, and how many of them libcurl has not read.
  ///
  /// Nil after the socket is closed.
  var received: (all: Int, unread: Int)? {
    var unread: Int32 = 0
    let count = ccurl_received(descriptor, localPort, &unread)
    return count < 0 ? nil : (Int(count) - before, Int(unread))
  }
}

/// The sockets that libcurl has opened, by local port; only the executor's thread uses it.
///
/// libcurl reports the local port of a running transfer, but not its socket. An entry stays after its socket
/// is closed, until another socket gets the port.
final class OpenSockets {
  private var descriptors: [Int32: Int32] = [:]

  /// The socket with a local port; `opened` has those of this transfer, none on a reused connection.
  func socket(localPort: Int32, opened: [Int32]) -> CountedSocket? {
    for descriptor in opened {
      guard let socket = CountedSocket(descriptor, localPort: localPort) else { continue }
      descriptors[localPort] = descriptor
      return socket
    }
    return descriptors[localPort].flatMap { CountedSocket($0, localPort: localPort) }
  }
}

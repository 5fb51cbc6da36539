import Glibc

/// A client that reads when the test says so, over the Unix socket or TCP.
package final class RawClient: Sendable {
  private let socket: Int32
  private let host: String

  /// Connects to the Unix socket at a path.
  package init(_ path: String) throws(LoopbackError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    host = "localhost"
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try connect(&address)
  }

  /// Connects to a port of 127.0.0.1.
  package init(port: UInt16) throws(LoopbackError) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    host = "localhost:\(port)"
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try connect(&address)
  }

  private func connect<Address>(_ address: inout Address) throws(LoopbackError) {
    let isConnected = withUnsafeBytes(of: &address) { bytes in
      bytes.assumingMemoryBound(to: sockaddr.self).baseAddress.map {
        Glibc.connect(socket, $0, socklen_t(bytes.count)) == 0
      } ?? false
    }
    guard isConnected else { throw LoopbackError("connect") }
  }

  deinit { close(socket) }

  /// Requests a target and keeps the connection open.
  package func get(_ target: String, _ fields: String...) {
    write("GET \(target) HTTP/1.1\r\n" + (["Host: \(host)"] + fields + [""]).map { $0 + "\r\n" }.joined())
  }

  /// Sends text as it is.
  package func write(_ text: String) { _ = send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

  /// The next bytes.
  ///
  /// Waits for them, and returns fewer at the end.
  package func take(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var taken = 0
    while taken < count {
      let more = bytes.withUnsafeMutableBytes {
        recv(socket, $0.baseAddress?.advanced(by: taken), count - taken, 0)
      }
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { break }
      taken += more
    }
    return Array(bytes.prefix(taken))
  }

  /// The next lines, up to an empty one.
  package func head() -> String {
    var bytes: [UInt8] = []
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), case let byte = take(1), !byte.isEmpty {
      bytes += byte
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The next response with an announced length: the head and the body.
  package func response() -> (head: String, body: [UInt8]) {
    let head = head()
    let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
    return (head, take(line.flatMap { Int($0.dropFirst(16)) } ?? 0))
  }
}

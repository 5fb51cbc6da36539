import NIOCore

extension SocketAddress {
  /// The path of a Unix socket, or the URL of a port.
  var text: String {
    guard let host = ipAddress, let port else { return pathname ?? "" }
    return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Whether only processes of this machine can reach the socket.
  var isLocal: Bool { ipAddress.map { ["127.0.0.1", "::1"].contains($0) } ?? true }
}

import Glibc

/// One request to a gateway on this machine, without the start of libcurl.
enum GatewayProbe {
  /// The status of a response to a request for the methods of `/g/`; nil without one.
  static func status(of address: String) -> Int? {
    guard let scheme = address.firstRange(of: "://"), let colon = address.lastIndex(of: ":"),
      colon > scheme.upperBound
    else { return nil }
    let authority = address[scheme.upperBound...]
    let host = authority[..<colon].filter { !"[]".contains($0) }
    guard let descriptor = connect(to: host, port: String(address[address.index(after: colon)...])) else {
      return nil
    }
    defer { close(descriptor) }
    let request = Array("OPTIONS /g/ HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_WAITALL))
    let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    return words.first == "HTTP/1.1" && words.count > 1 ? Int(words[1]) : nil
  }

  private static func connect(to host: String, port: String) -> Int32? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // No name is looked up.
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, port, &hints, &found) == 0, let found else { return nil }
    defer { freeaddrinfo(found) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(found.pointee.ai_family, kind, 0)
    guard descriptor >= 0 else { return nil }
    var limit = timeval(tv_sec: 2, tv_usec: 0)
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard Glibc.connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}

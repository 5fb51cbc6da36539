import CCurl
import Glibc

/// What libcurl calls with the place of the transfer; an answer other than the count of bytes stops it.
extension RunningTransfer {
  static let headerCallback: curl_write_callback = { bytes, size, count, context in
    guard let place = place(context) else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return place.pointee.takeHeader(line) ? size * count : 0
  }

  static let bodyCallback: curl_write_callback = { bytes, size, count, context in
    guard let place = place(context) else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return place.pointee.takeBody(piece) ? size * count : 0
  }

  static let requestCallback: curl_prereq_callback = { context, peer, _, _, _ in
    guard let place = place(context), place.pointee.maySendRequest(to: peer) else {
      return CURL_PREREQFUNC_ABORT
    }
    return CURL_PREREQFUNC_OK
  }

  static let socketCallback: curl_opensocket_callback = { context, _, address in
    guard let place = place(context), let address else { return CURL_SOCKET_BAD }
    if place.pointee.looksAtAddresses {
      guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
        place.pointee.mayConnect(to: HostAddress(UnsafeRawPointer(address) + offset))
      else { return CURL_SOCKET_BAD }
    }
    // A program that the process starts would hold the connection open; libcurl itself makes it without.
    let (family, kind, proto) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    let descriptor = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), proto)
    if descriptor < 0 { place.pointee.noteSocketError(errno) } else { ReceiveBuffer.widen(descriptor) }
    return descriptor
  }

  private static func place(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<RunningTransfer>? {
    context?.assumingMemoryBound(to: RunningTransfer.self)
  }
}

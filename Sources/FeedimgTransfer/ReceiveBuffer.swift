import Glibc

/// What the kernel keeps of what a server sends until it is read.
enum ReceiveBuffer {
  /// So many bytes: what is under way of several images on one connection.
  static let room: Int32 = 2_000_000

  /// Sees to it that a socket has room for images that come faster than they are read.
  ///
  /// Linux has a buffer grow only where the reader leaves nothing unread. With several images at once over HTTP/2 it
  /// then stays so small that the server has to stop again and again, and each time what is read has to wake it. A
  /// low-water mark makes room for itself, which stays when the mark goes back (`tcp_set_rcvlowat` in
  /// net/ipv4/tcp.c). `SO_RCVBUF` would fix the size instead, which Linux would then no longer adapt to the network,
  /// and under a limit of its own. Where the kernel refuses, all is as without.
  static func widen(_ socket: Int32) {
    mark(socket, room)
    mark(socket, 1)
  }

  private static func mark(_ socket: Int32, _ bytes: Int32) {
    var bytes = bytes
    setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }
}

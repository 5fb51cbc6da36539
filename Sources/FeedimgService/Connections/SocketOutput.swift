import FeedimgModel
import Glibc
import NIOCore
import NIOHTTP1

/// Writes answers that are there in whole to the socket of a connection.
///
/// What is in memory goes to the kernel from where it is, in one call with its head: handed to the channel it would be
/// copied first. Only what the socket does not take at once goes that way. Of long bodies that are also there sealed a Unix
/// socket takes the pages themselves. Lives on the event loop of the connection;
/// nothing else may be on its way to the socket meanwhile. A class, as the channel may end, and its handler let go of
/// this, while something is handed to it.
final class SocketOutput {
  /// Where bytes leave the pipeline as they are.
  private let exit: ChannelHandlerContext
  /// The socket, as long as the channel is active: the channel closes it, and others may then have its number.
  private let socket: NIOBSDSocket.Handle?
  /// Whether a sealed body is sent for less than bytes.
  ///
  /// So it is over a Unix socket, where copying is half of the work. Over TCP the same pages, handed on one by one, are no
  /// gain over the larger pieces that the kernel copies bytes into.
  private(set) var takesCopies: Bool
  /// The head that is to go out.
  private var head: [UInt8] = []

  /// - Parameter context: That of the handler which answers; nil where no encoder of HTTP is below it.
  init?(below context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    guard let encoder = try? pipeline.context(handlerType: HTTPResponseEncoder.self) else { return nil }
    exit = encoder
    // Asked for once, since to find out that the channel has one takes the runtime a while.
    socket = try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    takesCopies = socket != nil && context.channel.localAddress?.protocol == .unix
  }

  /// Whether no head waits.
  var isEmpty: Bool { head.isEmpty }

  /// Puts a head together, to go out with the bytes that are written next (RFC 9112 §4).
  ///
  /// - Parameters:
  ///   - status: The code.
  ///   - lines: Fields that come first.
  ///   - fields: Those that follow.
  /// - Returns: False where something is in a field that must not be there; nothing is kept then.
  func setHead(_ status: Int, _ lines: FieldLines?, _ fields: [HTTPFields.Field]) -> Bool {
    head.removeAll(keepingCapacity: true)
    if status == 200 {
      head.append(contentsOf: "HTTP/1.1 200 OK\r\n".utf8)
    } else {
      head.append(contentsOf: "HTTP/1.1 \(status) \(StatusPhrase.text(status))\r\n".utf8)
    }
    if let lines { head.append(contentsOf: lines.bytes) }
    for field in fields {
      guard field.append(to: &head) else {
        head.removeAll(keepingCapacity: true)
        return false
      }
    }
    head.append(contentsOf: "\r\n".utf8)
    return true
  }

  /// Writes as much as the socket takes without waiting.
  ///
  /// - Parameters:
  ///   - bytes: What follows the head.
  ///   - copy: Has the same bytes at the same places, if it is there.
  /// - Returns: What it did not take of the bytes; what it did not take of the head stays here.
  func write(_ bytes: ArraySlice<UInt8>, _ copy: SealedBody?) -> ArraySlice<UInt8> {
    guard !head.isEmpty || !bytes.isEmpty else { return bytes }
    guard let socket, exit.channel.isActive else { return bytes }
    guard takesCopies, let copy, bytes.count >= SealedBody.worth else { return write(bytes, to: socket) }
    if !head.isEmpty {
      _ = write([], to: socket)
      guard head.isEmpty else { return bytes }
    }
    guard let taken = copy.send(bytes.indices, to: socket) else {
      takesCopies = false
      return write(bytes, to: socket)
    }
    return bytes.dropFirst(taken)
  }

  private func write(_ bytes: ArraySlice<UInt8>, to socket: NIOBSDSocket.Handle) -> ArraySlice<UInt8> {
    let taken = head.withUnsafeBytes { head in bytes.withUnsafeBytes { Self.send(head, $0, to: socket) } }
    // Why nothing was taken the channel will find out, and tell.
    guard taken > 0 else { return bytes }
    guard taken >= head.count else {
      head.removeFirst(taken)
      return bytes
    }
    let rest = bytes.dropFirst(taken - head.count)
    head.removeAll(keepingCapacity: true)
    return rest
  }

  /// Hands a copy to the channel, with what is left of the head in front.
  ///
  /// - Returns: When it has been taken.
  func pass(on bytes: ArraySlice<UInt8>) -> EventLoopFuture<Void> {
    var buffer = exit.channel.allocator.buffer(capacity: head.count + bytes.count)
    buffer.writeBytes(head)
    buffer.writeBytes(bytes)
    head.removeAll(keepingCapacity: true)
    let taken = exit.eventLoop.makePromise(of: Void.self)
    exit.writeAndFlush(NIOAny(IOData.byteBuffer(buffer)), promise: taken)
    return taken.futureResult
  }

  private static func part(_ bytes: UnsafeRawBufferPointer) -> iovec {
    iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }

  /// How many bytes were taken of both; below zero where none could be.
  private static func send(
    _ head: UnsafeRawBufferPointer,
    _ body: UnsafeRawBufferPointer,
    to socket: NIOBSDSocket.Handle
  ) -> Int {
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
      parts.initializeElement(at: 0, to: part(head))
      parts.initializeElement(at: 1, to: part(body))
      var message = msghdr()
      message.msg_iov = parts.baseAddress
      message.msg_iovlen = parts.count
      return sendmsg(socket, &message, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
  }
}

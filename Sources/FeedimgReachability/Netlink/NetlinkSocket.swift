import CLibNL
import CNetlink
import Glibc

/// A netlink socket that sends a request and reads its reply, one at a time.
///
/// It never blocks: the kernel writes the reply while it receives the request, and each part of a list while
/// it delivers the part before.
final class NetlinkSocket {
  /// Enough for the longest datagram of a list (32 KiB).
  ///
  /// Unused pages take no memory.
  private static let bufferLength = 64 << 10

  private let handle: OpaquePointer
  private let buffer: UnsafeMutableRawBufferPointer
  private var sequence: UInt32 = 0

  /// For system calls that need any socket of the namespace.
  var descriptor: Int32 { nl_socket_get_fd(handle) }

  /// Opens a socket of `NETLINK_ROUTE` or `NETLINK_GENERIC`.
  ///
  /// - Throws: `refused` if the system does not support or permit the socket.
  init(family: Int32) throws(NetlinkError) {
    guard let handle = nl_socket_alloc() else { throw NetlinkError(code: .refused, number: ENOMEM) }
    guard nl_connect(handle, family) == 0 else {
      let number = errno
      nl_socket_free(handle)
      throw NetlinkError(code: .refused, number: number)
    }
    self.handle = handle
    buffer = .allocate(byteCount: Self.bufferLength, alignment: MemoryLayout<UInt64>.alignment)
  }

  deinit {
    buffer.deallocate()
    nl_socket_free(handle)
  }

  /// Sends a request and reads the whole reply; each message is valid until the call returns.
  ///
  /// - Throws: `negative` with the kernel's error number; `interrupted` if a list changed while it was read;
  ///   `malformed` if there is no reply.
  func exchange(_ request: consuming NetlinkRequest, _ body: (NetlinkMessage) -> Void) throws(NetlinkError) {
    sequence &+= 1
    request.number(sequence)
    try send(request)
    var isInterrupted = false
    while true {
      for message in NetlinkMessages(try receive()) where message.sequence == sequence {
        isInterrupted = isInterrupted || message.flags & Int(NLM_F_DUMP_INTR) != 0
        if message.type == Int(NLMSG_DONE) {
          guard !isInterrupted else { throw NetlinkError(code: .interrupted) }
          return
        }
        if let number = message.errorNumber {
          guard number != 0 else { return }
          throw NetlinkError(code: .negative, number: number)
        }
        body(message)
        if !request.isList { return }
      }
    }
  }

  private func send(_ request: borrowing NetlinkRequest) throws(NetlinkError) {
    var sent: Int32
    repeat {
      sent = request.bytes.withUnsafeBytes { bytes in
        // The kernel only reads the message.
        nl_sendto(handle, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
      }
    } while sent < 0 && errno == EINTR
    guard sent >= 0 else { throw NetlinkError(code: .refused, number: errno) }
  }

  // Not nl_recv, which allocates memory for each datagram and maps several error numbers to one.
  private func receive() throws(NetlinkError) -> UnsafeRawBufferPointer {
    while true {
      let flags = Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC)
      let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
      if count > buffer.count { throw NetlinkError(code: .malformed, number: EMSGSIZE) }
      if count > 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
      switch errno {
      case _ where count == 0: throw NetlinkError(code: .malformed)
      case EINTR: continue
      case ENOBUFS: throw NetlinkError(code: .overrun, number: ENOBUFS)
      case let number: throw NetlinkError(code: .malformed, number: number)
      }
    }
  }
}

/// A netlink request in bytes.
struct NetlinkRequest {
  /// The message with its header.
  ///
  /// Adding an attribute updates the length.
  private(set) var bytes: [UInt8] = []
  /// Whether the reply is a list of messages with an end message.
  let isList: Bool

  /// Starts a request with the fixed part of its body.
  init(_ type: Int, isList: Bool = false, header: some BitwiseCopyable) {
    self.isList = isList
    bytes.reserveCapacity(96)
    let flags = Int32(NLM_F_REQUEST) | (isList ? Int32(NLM_F_ROOT | NLM_F_MATCH) : 0)
    append(
      nlmsghdr(nlmsg_len: 0, nlmsg_type: UInt16(type), nlmsg_flags: UInt16(flags), nlmsg_seq: 0, nlmsg_pid: 0)
    )
    append(header)
    finish()
  }

  mutating func add(_ type: Int, _ value: some BitwiseCopyable) {
    withUnsafeBytes(of: value) { add(type, bytes: $0) }
  }

  mutating func add(_ type: Int, bytes payload: UnsafeRawBufferPointer) {
    append(UInt16(4 + payload.count))
    append(UInt16(type))
    bytes.append(contentsOf: payload)
    finish()
  }

  /// Numbers the request, so that its reply differs from that of an earlier request.
  mutating func number(_ sequence: UInt32) {
    overwrite(at: 8, with: sequence)
  }

  private mutating func append(_ value: some BitwiseCopyable) {
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
  }

  private mutating func finish() {
    while bytes.count % 4 != 0 { bytes.append(0) }
    overwrite(at: 0, with: UInt32(bytes.count))
  }

  private mutating func overwrite(at offset: Int, with value: UInt32) {
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt32.self) }
  }
}

/// A failure of a netlink request.
package struct NetlinkError: Error, Equatable {
  package enum Code: Equatable {
    /// The system does not permit the socket or the request.
    case refused
    /// The kernel returned the error number in ``NetlinkError/number``.
    case negative
    /// The list changed while it was read; repeat the request.
    case interrupted
    /// The socket's buffer overflowed, and messages were lost.
    case overrun
    /// The reply is missing or invalid.
    case malformed
  }

  package var code: Code
  /// The system's error number, or 0.
  package var number: Int32 = 0
}

import CLibNL
import CNetlink
import Glibc

/// A netlink socket that asks the kernel and reads its answers, one question at a time.
///
/// It never waits: the kernel answers while it takes the request, and writes the next part of a list
/// while it hands out the one before. So nothing can hang, whatever the kernel is.
final class NetlinkSocket {
  /// Enough for the longest datagram of a list (32 KiB); the pages that no answer reaches stay unused.
  private static let bufferLength = 64 << 10

  private let handle: OpaquePointer
  private let buffer: UnsafeMutableRawBufferPointer
  private var sequence: UInt32 = 0

  /// For system calls that take any socket of the namespace.
  var descriptor: Int32 { nl_socket_get_fd(handle) }

  /// Opens a socket.
  ///
  /// - Parameter family: `NETLINK_ROUTE` or `NETLINK_GENERIC`.
  /// - Throws: `refused` where the system has or allows none.
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

  /// Sends a request and reads the whole answer.
  ///
  /// - Parameters:
  ///   - request: What to ask.
  ///   - body: Gets each message of the answer, which is valid until it returns.
  /// - Throws: `negative` with the kernel's error number, `interrupted` where a list changed while it was
  ///   read, `malformed` where the answer stays out.
  func ask(_ request: consuming NetlinkRequest, _ body: (NetlinkMessage) -> Void) throws(NetlinkError) {
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
    let sent = request.bytes.withUnsafeBytes { bytes in
      // The kernel reads the message and does not write it.
      nl_sendto(handle, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
    guard sent >= 0 else { throw NetlinkError(code: .refused, number: errno) }
  }

  // Not nl_recv: it allocates for each datagram, and it maps several error numbers to one.
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

/// The bytes of a netlink request.
struct NetlinkRequest {
  /// The message with its header, whose length is kept right as attributes are added.
  private(set) var bytes: [UInt8] = []
  /// Whether the answer is a list of messages that ends with one saying so.
  let isList: Bool

  /// Begins a request with the fixed part of its body.
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

  /// Adds a text and the NUL that ends it.
  mutating func add(_ type: Int, text: String) {
    var text = text
    text.append("\0")
    text.withUTF8 { add(type, bytes: UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ type: Int, bytes payload: UnsafeRawBufferPointer) {
    append(UInt16(4 + payload.count))
    append(UInt16(type))
    bytes.append(contentsOf: payload)
    finish()
  }

  /// Marks the request, so that its answer is told from that to an earlier one.
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

/// Why netlink gave no answer that can be used.
package struct NetlinkError: Error, Equatable {
  package enum Code: Equatable {
    /// The system lets this process have no such socket, or not ask this.
    case refused
    /// The kernel says no, with the error number in ``NetlinkError/number``.
    case negative
    /// What was listed changed meanwhile: ask again.
    case interrupted
    /// More came than the socket could hold, and some of it is lost.
    case overrun
    /// No answer, or one that is none.
    case malformed
  }

  package var code: Code
  /// The system's error number, or 0.
  package var number: Int32 = 0
}

import CNetlink

/// One netlink message as it came, valid as long as the bytes it was read from.
struct NetlinkMessage {
  let type: Int
  let flags: Int
  let sequence: UInt32
  /// What follows the header.
  let body: UnsafeRawBufferPointer

  /// The attributes behind the fixed part of the body, whose length depends on the type.
  ///
  /// - Parameter length: The length of the fixed part in bytes.
  /// - Returns: None where the body is shorter than that.
  func attributes(after length: Int) -> Attributes {
    let start = min(aligned(length), body.count)
    return Attributes(UnsafeRawBufferPointer(rebasing: body[start...]))
  }

  /// The fixed part of the body.
  ///
  /// - Returns: Nil where the body is too short for it.
  func header<Header: BitwiseCopyable>(as type: Header.Type = Header.self) -> Header? {
    guard body.count >= MemoryLayout<Header>.size else { return nil }
    return body.loadUnaligned(as: Header.self)
  }

  /// The kernel's error number, positive, if this is an error message; 0 acknowledges.
  var errorNumber: Int32? {
    guard type == Int(NLMSG_ERROR), body.count >= 4 else { return nil }
    // Not every number has a positive counterpart.
    return 0 &- body.loadUnaligned(as: Int32.self)
  }
}

/// The messages of one datagram, in order; ends at the first whose length cannot be right.
struct NetlinkMessages: Sequence, IteratorProtocol {
  private static let headerLength = MemoryLayout<nlmsghdr>.size

  private var rest: UnsafeRawBufferPointer

  init(_ datagram: UnsafeRawBufferPointer) {
    rest = datagram
  }

  mutating func next() -> NetlinkMessage? {
    guard rest.count >= Self.headerLength else { return nil }
    let header = rest.loadUnaligned(as: nlmsghdr.self)
    let length = Int(header.nlmsg_len)
    guard length >= Self.headerLength, length <= rest.count else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: rest[Self.headerLength..<length])
    rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(aligned(length), rest.count)...])
    return NetlinkMessage(
      type: Int(header.nlmsg_type),
      flags: Int(header.nlmsg_flags),
      sequence: header.nlmsg_seq,
      body: body
    )
  }
}

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

/// One attribute of a netlink message, valid as long as the bytes it was read from.
struct Attribute {
  /// The type without the flags for nesting and byte order.
  let type: Int
  let payload: UnsafeRawBufferPointer

  /// The attributes inside of this one.
  var nested: Attributes { Attributes(payload) }

  var uint8: UInt8? { load() }
  var uint16: UInt16? { load() }
  var uint32: UInt32? { load() }
  var int32: Int32? { load() }

  /// The text up to the first NUL, repaired where it is no UTF-8.
  var string: String {
    String(decoding: payload.prefix { $0 != 0 }, as: UTF8.self)
  }

  private func load<Value: BitwiseCopyable>() -> Value? {
    guard payload.count >= MemoryLayout<Value>.size else { return nil }
    return payload.loadUnaligned(as: Value.self)
  }
}

/// The attributes of a netlink message in their order (`struct nlattr` of linux/netlink.h).
///
/// Reading ends at the first attribute whose length cannot be right.
struct Attributes: Sequence, IteratorProtocol {
  private static let headerLength = 4
  private static let flags: UInt16 = 0xc000  // NLA_F_NESTED, NLA_F_NET_BYTEORDER

  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    rest = bytes
  }

  mutating func next() -> Attribute? {
    guard rest.count >= Self.headerLength else { return nil }
    let length = Int(rest.loadUnaligned(as: UInt16.self))
    guard length >= Self.headerLength, length <= rest.count else { return nil }
    let type = rest.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
    let payload = UnsafeRawBufferPointer(rebasing: rest[Self.headerLength..<length])
    rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(aligned(length), rest.count)...])
    return Attribute(type: Int(type & ~Self.flags), payload: payload)
  }
}

/// The place of what follows: netlink aligns to four bytes (NLMSG_ALIGN, NLA_ALIGN).
func aligned(_ length: Int) -> Int {
  (length + 3) & ~3
}

import CNetlink

/// One received netlink message, valid as long as its bytes.
struct NetlinkMessage {
  let type: Int
  let flags: Int
  let sequence: UInt32
  /// The message without its header.
  let body: UnsafeRawBufferPointer

  /// The attributes after the fixed part of the body, whose length in bytes depends on the type.
  func attributes(after length: Int) -> Attributes {
    let start = min(aligned(length), body.count)
    return Attributes(UnsafeRawBufferPointer(rebasing: body[start...]))
  }

  /// The fixed part of the body; nil if the body is too short.
  func header<Header: BitwiseCopyable>(as type: Header.Type = Header.self) -> Header? {
    guard body.count >= MemoryLayout<Header>.size else { return nil }
    return body.loadUnaligned(as: Header.self)
  }

  /// The positive error number of an error message; 0 acknowledges a request.
  var errorNumber: Int32? {
    guard type == Int(NLMSG_ERROR), body.count >= 4 else { return nil }
    // `Int32.min` has no positive counterpart.
    return 0 &- body.loadUnaligned(as: Int32.self)
  }
}

/// The messages of one datagram, in order.
///
/// Ends at the first message with an invalid length.
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

/// One attribute of a netlink message, valid as long as its bytes.
struct Attribute {
  /// The type without the flags for nesting and byte order.
  let type: Int
  let payload: UnsafeRawBufferPointer

  /// The attributes nested in this one.
  var nested: Attributes { Attributes(payload) }

  var uint8: UInt8? { load() }
  var uint16: UInt16? { load() }
  var uint32: UInt32? { load() }
  var int32: Int32? { load() }

  /// The text up to the first NUL, with invalid UTF-8 repaired.
  var string: String {
    String(decoding: payload.prefix { $0 != 0 }, as: UTF8.self)
  }

  private func load<Value: BitwiseCopyable>() -> Value? {
    guard payload.count >= MemoryLayout<Value>.size else { return nil }
    return payload.loadUnaligned(as: Value.self)
  }
}

/// The attributes of a netlink message, in order (`struct nlattr` of linux/netlink.h).
///
/// Ends at the first attribute with an invalid length.
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

/// Rounds a length up to four bytes, as netlink does (NLMSG_ALIGN, NLA_ALIGN).
func aligned(_ length: Int) -> Int {
  (length + 3) & ~3
}

import CNetlink

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

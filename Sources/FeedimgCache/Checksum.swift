import CXXHash

/// The XXH3 checksum, with 64 bits, of bytes that come in pieces.
struct Checksum: ~Copyable {
  private let state: OpaquePointer

  /// - Returns: Nil when there is no memory.
  init?() {
    guard let state = feedimg_xxh3_new() else { return nil }
    self.state = state
  }

  deinit { feedimg_xxh3_free(state) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    feedimg_xxh3_update(state, base, bytes.count)
  }

  /// Of all bytes so far.
  var value: UInt64 { feedimg_xxh3_digest(state) }

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    feedimg_xxh3_hash(bytes.baseAddress, bytes.count)
  }

  static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { of($0) } }

  static func of(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
  }
}

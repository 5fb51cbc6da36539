/// Bodies in Brotli (RFC 7932).
package enum Brotli {
  /// Bytes in one meta-block without compression, which can hold 65,536 (RFC 7932 §9.2).
  package static func stored(_ bytes: [UInt8]) -> [UInt8] {
    // A window of 64 KiB, a meta-block that is not the last, its length in four nibbles, and the mark of no compression.
    let head = UInt32(bytes.count - 1) << 4 | 1 << 20
    return (0..<3).map { UInt8(truncatingIfNeeded: head >> (8 * $0)) } + bytes + [3]
  }
}

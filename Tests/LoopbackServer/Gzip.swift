/// Bodies in gzip (RFC 1952).
package enum Gzip {
  /// Bytes, followed by at least this many zeros, which take 13 bits for 258 of them (RFC 1951 §3.2.6).
  ///
  /// The checksum is valid for fewer than ten million bytes.
  package static func zeros(_ count: Int, after start: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    if !start.isEmpty {
      let length = UInt16(start.count)
      // A block without compression (RFC 1951 §3.2.4).
      bytes += [0] + [length, ~length].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } + start
    }
    var (bits, filled) = (0 as UInt8, 0)
    func append(_ code: String) {
      for bit in code.utf8 {
        if bit == UInt8(ascii: "1") { bits |= 1 << UInt8(filled) }
        filled += 1
        if filled == 8 {
          bytes.append(bits)
          (bits, filled) = (0, 0)
        }
      }
    }
    // The last block, with the fixed code: a zero, and copies of the byte before.
    append("110" + "00110000")
    for _ in 0...(count / 258) { append("11000101" + "00000") }
    append("0000000")
    if filled > 0 { bytes.append(bits) }
    let zeros = 1 + (count / 258 + 1) * 258
    let length = start.count + zeros
    let end = [length < 10_000_000 ? checksum(start, zeros) : 0, UInt32(length)]
    return bytes + end.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// Bytes in one block without compression, of which gzip can hold 65,535 (RFC 1951 §3.2.4).
  package static func stored(_ bytes: [UInt8]) -> [UInt8] {
    let length = UInt16(bytes.count)
    let sizes = [length, ~length].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let end = [checksum(bytes, 0), UInt32(length)]
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + sizes + bytes
      + end.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// The CRC-32 of bytes, followed by this many zeros (RFC 1952 §8).
  private static func checksum(_ start: [UInt8], _ zeros: Int) -> UInt32 {
    var table: [UInt32] = []
    for byte in 0..<256 as Range<UInt32> {
      table.append((0..<8).reduce(byte) { word, _ in word & 1 == 0 ? word >> 1 : word >> 1 ^ 0xEDB8_8320 })
    }
    var word = UInt32.max
    for byte in start { word = word >> 8 ^ table[Int((word ^ UInt32(byte)) & 0xFF)] }
    for _ in 0..<zeros { word = word >> 8 ^ table[Int(word & 0xFF)] }
    return ~word
  }
}

/// Tells whether an encoded image is whole, where the transfer itself could not tell.
///
/// A body whose end is marked by the closing of the connection alone may have been cut without a sign
/// (RFC 9112 §8); then the format's own end is what is left to go by. It is found by going from part to part: its bytes
/// also stand amid the data and in the small pictures that photographs carry, and phones append films behind it.
package enum ImageStructure {
  /// Whether the bytes reach the end that the format announces.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image.
  ///   - mediaType: As told by ``MediaType/sniff(_:declared:)``.
  /// - Returns: True also for formats without an end mark that is known here.
  package static func isWhole(_ bytes: [UInt8], mediaType: String) -> Bool {
    switch mediaType {
    case "image/jpeg": hasEnd(ofJPEG: bytes)
    case "image/png": hasEnd(ofPNG: bytes)
    case "image/gif": hasEnd(ofGIF: bytes)
    case "image/avif", "image/heic": boxesFit(bytes[...])
    // A bare codestream has no boxes.
    case "image/jxl": bytes.first == 0xFF || boxesFit(bytes[...])
    case "image/bmp": bytes.count >= 6 && bytes.count >= Int(littleEndian(bytes[2..<6]))
    case "image/webp": bytes.count >= 8 + Int(littleEndian(bytes.dropFirst(4).prefix(4)))
    case "image/svg+xml": hasEnd(ofSVG: bytes)
    default: true
    }
  }

  /// Whether every box is there in full (ISO/IEC 14496-12 §4.2).
  private static func boxesFit(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return false }
    var rest = bytes
    while rest.contains(where: { $0 != 0 }) {
      guard rest.count >= 8 else { return false }
      var size = bigEndian(rest.prefix(4))
      var headerSize: UInt64 = 8
      if size == 0 { return true }
      if size == 1 {
        guard rest.count >= 16 else { return false }
        size = bigEndian(rest.dropFirst(8).prefix(8))
        headerSize = 16
      }
      guard size >= headerSize, size <= rest.count else { return false }
      rest = rest.dropFirst(Int(size))
    }
    return true
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}

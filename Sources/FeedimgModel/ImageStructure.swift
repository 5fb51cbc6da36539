/// Checks whether an encoded image is complete, for transfers that cannot tell.
///
/// If closing the connection ends a body, the body may be truncated without a sign (RFC 9112 §8). Then only
/// the
/// format shows its end. The check walks the parts of the file, because end marks also occur within data and
/// in
/// embedded previews, and some phones append videos.
package enum ImageStructure {
  /// Whether the bytes reach the end that the format defines.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image.
  ///   - mediaType: As detected by ``MediaType/sniff(_:declared:)``.
  /// - Returns: Also true for formats without a known end mark.
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

  /// Whether every box is complete (ISO/IEC 14496-12 §4.2).
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

extension ImageStructure {
  /// Whether the image has more than one frame.
  ///
  /// Reads the structure of the file and decodes nothing. An animated PNG counts as a still image, because
  /// the
  /// decoders read only its first frame.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image or its first part; only the frames in it count.
  ///   - mediaType: As detected by ``MediaType/sniff(_:declared:)``.
  /// - Returns: Whether at least two frames exist.
  package static func isAnimated(_ bytes: [UInt8], mediaType: String) -> Bool {
    switch mediaType {
    case "image/gif": hasSecondFrame(ofGIF: bytes)
    case "image/webp": hasSecondFrame(ofWebP: bytes)
    // The major brand of image sequences (AV1 Image File Format, §6.3).
    case "image/avif": bytes.dropFirst(8).starts(with: "avis".utf8)
    default: false
    }
  }

  private static func hasSecondFrame(ofGIF bytes: [UInt8]) -> Bool {
    var blocks = GIFBlocks(bytes)
    var frames = 0
    while let block = blocks.next(), frames < 2 { if block == .image { frames += 1 } }
    return frames > 1
  }

  /// Counts frame chunks (WebP Container Specification, "Animation").
  private static func hasSecondFrame(ofWebP bytes: [UInt8]) -> Bool {
    var place = 12
    guard bytes.dropFirst(place).starts(with: "VP8X".utf8) else { return false }
    var frames = 0
    while place + 8 <= bytes.count {
      if bytes[place..<place + 4].elementsEqual("ANMF".utf8) { frames += 1 }
      if frames > 1 { return true }
      let size = bytes[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
      // Chunks are padded to even sizes. The sum of a 32-bit size and an offset cannot overflow.
      place += 8 + size + size % 2
    }
    return false
  }
}

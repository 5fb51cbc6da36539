/// Walks the parts of an encoded image, for the checks of ``ImageFormat``.
///
/// End marks also occur within data and in embedded previews, and some phones append videos.
enum ImageStructure {
  /// Whether every box is complete (ISO/IEC 14496-12 §4.2).
  static func hasEnd(ofBoxes bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return false }
    var rest = bytes[...]
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

  /// A bare codestream of JPEG XL has no boxes.
  static func hasEnd(ofJPEGXL bytes: [UInt8]) -> Bool { bytes.first == 0xFF || hasEnd(ofBoxes: bytes) }

  static func hasEnd(ofBMP bytes: [UInt8]) -> Bool {
    bytes.count >= 6 && bytes.count >= Int(littleEndian(bytes[2..<6]))
  }

  static func hasEnd(ofWebP bytes: [UInt8]) -> Bool {
    bytes.count >= 8 + Int(littleEndian(bytes.dropFirst(4).prefix(4)))
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Walks from marker to marker to the end of the image (ITU-T T.81, annex B).
  ///
  /// Skips scan data and invalid bytes between segments, as decoders do.
  static func hasEnd(ofJPEG bytes: [UInt8]) -> Bool {
    var place = 2
    while let start = bytes.dropFirst(place).firstIndex(of: 0xFF), start + 1 < bytes.count {
      switch bytes[start + 1] {
      case 0xD9: return true
      // Fill bytes before a marker.
      case 0xFF: place = start + 1
      // A data byte, a restart marker, or another marker without a segment.
      case 0, 1, 0xD0...0xD8: place = start + 2
      default:
        guard start + 3 < bytes.count else { return false }
        place = start + 2 + max(2, Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]))
      }
    }
    return false
  }

  /// Walks from chunk to chunk (PNG specification, §5.3).
  static func hasEnd(ofPNG bytes: [UInt8]) -> Bool {
    var place = 8
    // A length, a type and a checksum surround the data of a chunk.
    while place + 12 <= bytes.count {
      if bytes[place + 4..<place + 8].elementsEqual("IEND".utf8) { return true }
      place += 12 + bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    return false
  }

  /// Looks for the end tag of the root near the end of the text, with any namespace prefix (XML 1.0, §3.1).
  static func hasEnd(ofSVG bytes: [UInt8]) -> Bool {
    String(decoding: bytes.suffix(svgTrailerLimit), as: UTF8.self).firstMatch(of: /<\/([^<>\/\s:]+:)?svg\s*>/)
      != nil
  }

  /// The number of bytes to search; comments may follow the end tag.
  private static let svgTrailerLimit = 4096

  /// Walks from block to block to the trailer (GIF89a, section 27).
  ///
  /// Treats an invalid block as the end of the image, as decoders do.
  static func hasEnd(ofGIF bytes: [UInt8]) -> Bool {
    var blocks = GIFBlocks(bytes)
    while let block = blocks.next() {
      if block == .other { return true }
    }
    return false
  }
}

extension ImageStructure {
  /// Reads the major brand, which image sequences have (AV1 Image File Format, §6.3).
  static func isSequence(ofAVIF bytes: [UInt8]) -> Bool { bytes.dropFirst(8).starts(with: "avis".utf8) }

  static func hasSecondFrame(ofGIF bytes: [UInt8]) -> Bool {
    var blocks = GIFBlocks(bytes)
    var frames = 0
    while let block = blocks.next(), frames < 2 { if block == .image { frames += 1 } }
    return frames > 1
  }

  /// Counts frame chunks (WebP Container Specification, "Animation").
  static func hasSecondFrame(ofWebP bytes: [UInt8]) -> Bool {
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

/// Iterates over the blocks of a GIF, up to the last block that has begun (GIF89a, sections 15 to 27).
struct GIFBlocks: IteratorProtocol {
  enum Block {
    case `extension`
    case image
    /// The trailer or an invalid block; ends the iteration.
    case other
  }

  private let bytes: [UInt8]
  private var place: Int
  /// Whether ``place`` is at the data of a block.
  private var isAtData = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    place = bytes.count > 10 ? 13 + Self.sizeOfColors(bytes[10]) : 13
  }

  mutating func next() -> Block? {
    if isAtData { passData() }
    guard place < bytes.count else { return nil }
    switch bytes[place] {
    case 0x21:
      place += 2
      isAtData = true
      return .extension
    case 0x2C:
      // The colour table and the code width precede the data.
      place = place + 9 < bytes.count ? place + 11 + Self.sizeOfColors(bytes[place + 9]) : bytes.count
      isAtData = true
      return .image
    default:
      place = bytes.count
      return .other
    }
  }

  /// Skips data sub-blocks, each prefixed with its length.
  ///
  /// An empty sub-block ends them.
  private mutating func passData() {
    while place < bytes.count, bytes[place] != 0 { place += 1 + Int(bytes[place]) }
    place += 1
    isAtData = false
  }

  private static func sizeOfColors(_ flags: UInt8) -> Int {
    flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
  }
}

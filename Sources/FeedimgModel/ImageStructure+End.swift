extension ImageStructure {
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

/// Finds the complete scans of an arriving image: scans of a progressive JPEG, and data of an interlaced PNG.
///
/// Reads each byte once, over all calls.
package struct ScanFinder: Sendable {
  private enum Format {
    case unknown
    /// Within segments, or within the data of a scan.
    case jpeg(isInScan: Bool)
    case png
    /// A format without scans, or no further scans.
    case other
  }

  private var format = Format.unknown
  /// The number of inspected bytes.
  private var place = 0
  private var isProgressive = false
  private var lastEnd: Int?

  /// Creates a finder for the start of an image.
  package init() {}

  /// The number of bytes that form complete scans; nil before the first one, and for an image without scans.
  ///
  /// The end of a PNG pass is not visible without decoding, so every PNG byte counts. The bytes are all those of
  /// the image so far.
  package mutating func end(in bytes: [UInt8]) -> Int? {
    if case .unknown = format { recognise(bytes) }
    switch format {
    case .unknown, .other: break
    case .png: lastEnd = bytes.count
    case .jpeg: bytes.withUnsafeBufferPointer { step(over: $0) }
    }
    return lastEnd
  }

  private static let pngHead: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The offset of IHDR's interlace method (PNG specification §11.2.2).
  private static let pngInterlacing = 28

  private mutating func recognise(_ bytes: [UInt8]) {
    guard bytes.count > Self.pngInterlacing else { return }
    if bytes[0] == 0xFF, bytes[1] == 0xD8 {
      (format, place) = (.jpeg(isInScan: false), 2)
    } else {
      format = bytes.starts(with: Self.pngHead) && bytes[Self.pngInterlacing] == 1 ? .png : .other
    }
  }

  /// ITU-T T.81, annex B.
  private mutating func step(over bytes: UnsafeBufferPointer<UInt8>) {
    while case .jpeg(let isInScan) = format, place + 1 < bytes.count {
      let continues = isInScan ? passData(bytes) : passSegment(bytes)
      guard continues else { return }
    }
  }

  /// Skips the data of a scan; false if its end has not arrived.
  private mutating func passData(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    while place + 1 < bytes.count {
      guard bytes[place] == 0xFF else {
        place += 1
        continue
      }
      switch bytes[place + 1] {
      // A data byte, a restart marker, or a fill byte before a marker.
      case 0, 0xD0...0xD7: place += 2
      case 0xFF: place += 1
      default:
        lastEnd = place
        format = .jpeg(isInScan: false)
        return true
      }
    }
    return false
  }

  /// Skips a segment; false if its end has not arrived.
  private mutating func passSegment(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let marker = bytes[place + 1]
    guard bytes[place] == 0xFF, marker != 0xD9 else {
      // No scans follow the end of the image or an invalid marker.
      format = .other
      return false
    }
    if marker == 0xFF || marker == 1 || (0xD0...0xD8).contains(marker) {
      place += marker == 0xFF ? 1 : 2
      return true
    }
    guard place + 3 < bytes.count else { return false }
    let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
    guard length >= 2 else {
      format = .other
      return false
    }
    guard place + 2 + length <= bytes.count else { return false }
    // Huffman or arithmetic coding.
    if marker == 0xC2 || marker == 0xCA { isProgressive = true }
    if marker == 0xDA {
      format = isProgressive ? .jpeg(isInScan: true) : .other
    }
    place += 2 + length
    return true
  }
}

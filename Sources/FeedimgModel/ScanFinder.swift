/// Finds how much of an image that is arriving shows all of the picture: whole scans of a progressive JPEG, and parts of
/// an interlaced PNG.
///
/// Goes over each byte once, however often it is asked. Pure.
package struct ScanFinder: Sendable {
  private enum Format {
    case unknown
    /// Within segments, or within the data of a scan.
    case jpeg(isInScan: Bool)
    case png
    /// None that has scans, or none any more.
    case other
  }

  private var format = Format.unknown
  /// How far the bytes have been looked at.
  private var place = 0
  private var isProgressive = false
  private var lastEnd: Int?

  /// Makes a finder at the beginning of an image.
  package init() {}

  /// How many of the bytes that are there make up whole scans.
  ///
  /// Where the passes of a PNG end is not to be seen from outside; any of its bytes may make it sharper.
  ///
  /// - Parameter bytes: All of the image that is there, which only grows from call to call.
  /// - Returns: Nil where there is no whole scan, or where the image has none.
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
  /// The byte of IHDR that tells the method of interlacing (PNG specification §11.2.2).
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
      let isToGoOn = isInScan ? passData(bytes) : passSegment(bytes)
      guard isToGoOn else { return }
    }
  }

  /// Goes to the end of the data of a scan; false where that is not there yet.
  private mutating func passData(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    while place + 1 < bytes.count {
      guard bytes[place] == 0xFF else {
        place += 1
        continue
      }
      switch bytes[place + 1] {
      // A byte of data, a restart, and what fills the space before a marker.
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

  /// Goes behind a segment; false where that is not there yet.
  private mutating func passSegment(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let marker = bytes[place + 1]
    guard bytes[place] == 0xFF, marker != 0xD9 else {
      // Behind the end, or where nobody knows where we are, there are no scans.
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

import FeedimgModel
import Testing

struct ImageStructureTests {
  /// An image with one scan, whose data contains bytes that look like markers.
  private static func jpeg(thumbnail: Bool = false) -> [UInt8] {
    let exif: [UInt8] = thumbnail ? [0xFF, 0xE1, 0, 12, 0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 7, 7, 0xFF, 0xD9] : []
    let scan: [UInt8] = [0xFF, 0xDA, 0, 3, 7, 1, 0xFF, 0, 0xD9, 0xFF, 0xD0, 2, 0xFF, 0xFF, 0xD9]
    return [0xFF, 0xD8] + exif + scan
  }

  private static func png() -> [UInt8] {
    [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + chunk("IHDR", [0, 0, 0, 1])
  }

  private static func chunk(_ type: String, _ bytes: [UInt8] = []) -> [UInt8] {
    [0, 0, 0, UInt8(bytes.count)] + Array(type.utf8) + bytes + [1, 2, 3, 4]
  }

  /// An image with one frame.
  ///
  /// The last piece of its data ends with the byte of a trailer.
  private static func gif() -> [UInt8] {
    let colors: [UInt8] = [0, 0, 0, 255, 255, 255]
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80] + colors + [2, 2, 0x3B, 0x3B, 0]
    return Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + colors + frame
  }

  /// The header of a box.
  private static func box(_ size: UInt8, _ type: String) -> [UInt8] { [0, 0, 0, size] + Array(type.utf8) }

  static let rows: [(bytes: [UInt8], type: String, isWhole: Bool, reason: String)] = [
    (jpeg(), "image/jpeg", true, "complete"),
    (jpeg() + [0x0A], "image/jpeg", true, "a line feed was appended"),
    (jpeg() + Array(repeating: 7, count: 4096), "image/jpeg", true, "a video was appended"),
    (jpeg().dropLast(), "image/jpeg", false, "cut within the marker"),
    (jpeg().dropLast(3), "image/jpeg", false, "cut within the data"),
    (jpeg(thumbnail: true).dropLast(2), "image/jpeg", false, "only the thumbnail's end"),
    (Array(jpeg(thumbnail: true).prefix(16)), "image/jpeg", false, "cut after a thumbnail"),
    (jpeg(thumbnail: true), "image/jpeg", true, "a thumbnail, and the end"),
    ([0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 7, 7, 0xFF, 0xD9], "image/jpeg", true, "a segment of length zero"),
    ([0xFF, 0xD8, 0xFF, 0xDA, 0], "image/jpeg", false, "cut within a length"),
    (png() + chunk("IEND"), "image/png", true, "has its last chunk"),
    (png() + chunk("IEND") + Array(repeating: 7, count: 4096), "image/png", true, "many bytes were appended"),
    (png() + chunk("IEND").dropLast(), "image/png", false, "cut within the last chunk"),
    (png() + chunk("tEXt", Array("IEND IEND".utf8)), "image/png", false, "mentions it only in its data"),
    (
      png() + [0xFF, 0xFF, 0xFF, 0xFF] + chunk("IEND"), "image/png", false, "a chunk with the largest length"
    ),
    (gif() + [0x3B], "image/gif", true, "has its trailer"),
    (gif() + [0x3B, 0, 0], "image/gif", true, "zeros were appended"),
    (gif(), "image/gif", false, "has none"),
    (gif().dropLast(), "image/gif", false, "the data ends with the byte of a trailer"),
    (gif() + [0x21, 0xF9, 1, 7, 0, 0x3B], "image/gif", true, "an extension before the trailer"),
    (gif() + [0x21, 0xF9], "image/gif", false, "cut within an extension"),
    (gif() + [0x2C, 0], "image/gif", false, "cut within the head of a frame"),
    (gif() + [0x99], "image/gif", true, "ends with an unknown block"),
    (box(8, "ftyp") + box(9, "mdat") + [7], "image/avif", true, "complete boxes"),
    (
      box(8, "ftyp") + box(10, "mdat") + [7], "image/avif", false,
      "the last box is one byte longer than the file"
    ),
    (box(8, "ftyp") + box(0, "mdat") + [7], "image/heic", true, "the last box extends to the end"),
    (box(8, "ftyp") + box(1, "mdat") + box(0, "\0\0\0\u{10}"), "image/heic", true, "a box of long size"),
    (box(8, "ftyp") + box(1, "mdat") + box(0, "\0\0\0\u{11}"), "image/heic", false, "with one byte missing"),
    (box(8, "ftyp") + box(1, "mdat"), "image/heic", false, "cut before the long size"),
    (
      box(8, "ftyp") + box(1, "mdat") + Array(repeating: 0xFF, count: 8), "image/heic", false,
      "the largest length"
    ),
    (box(8, "ftyp") + box(7, "mdat"), "image/avif", false, "a box shorter than its header"),
    (box(8, "ftyp") + box(8, "mda").dropLast(), "image/avif", false, "cut within the header of a box"),
    (box(12, "JXL ") + [0x0D, 0x0A, 0x87, 0x0A] + box(8, "jxlc"), "image/jxl", true, "complete boxes"),
    (box(12, "JXL ") + [0x0D, 0x0A, 0x87, 0x0A] + box(9, "jxlc"), "image/jxl", false, "one box is too long"),
    ([0xFF, 0x0A, 0], "image/jxl", true, "a bare codestream has no length"),
    (Array("BM\u{8}\0\0\0..".utf8), "image/bmp", true, "complete"),
    (Array("BM\u{9}\0\0\0..".utf8), "image/bmp", false, "truncated"),
    (Array("BM\u{9}".utf8), "image/bmp", false, "cut within its header"),
    (Array("RIFF\u{4}\0\0\0WEBP".utf8), "image/webp", true, "complete"),
    (Array("RIFF\u{5}\0\0\0WEBP".utf8), "image/webp", false, "truncated"),
    (
      Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WEBP".utf8), "image/webp", false,
      "the largest length"
    ),
    (Array("<svg><g/></svg>\n".utf8), "image/svg+xml", true, "its root is closed"),
    (Array("<svg:svg><g/></svg:svg >".utf8), "image/svg+xml", true, "its root is closed by its full name"),
    (Array("<svg></svg><!--".utf8) + Array(repeating: 0x2D, count: 2000), "image/svg+xml", true, "a comment"),
    (Array("<svg><g/>".utf8), "image/svg+xml", false, "its root is open"),
    (Array("<svg><g/></svgs>".utf8), "image/svg+xml", false, "another name"),
    ([1], "image/tiff", true, "nothing tells"),
    ([], "image/jpeg", false, "nothing there"),
  ]

  @Test(arguments: rows)
  func `a truncated body is detected by its end`(
    _ bytes: [UInt8],
    _ type: String,
    _ isWhole: Bool,
    _ reason: String
  ) {
    #expect(ImageFormat(mediaType: type)?.isWhole(bytes) == isWhole, "\(reason)")
  }
}

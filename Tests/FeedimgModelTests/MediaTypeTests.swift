import FeedimgModel
import Testing

struct MediaTypeTests {
  static let signatures: [(bytes: [UInt8], type: String?, reason: String)] = [
    ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg", "start of image"),
    ([0xFF, 0xD8], nil, "cut short"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png", "the signature"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A], nil, "sent as text, so that the line end changed"),
    (Array("GIF87a".utf8), "image/gif", "the older version"),
    (Array("GIF89a".utf8), "image/gif", "the newer version"),
    (Array("GIF90a".utf8), nil, "no such version"),
    (Array("RIFF\0\0\0\0WEBPVP8 ".utf8), "image/webp", "RIFF of WebP"),
    (Array("RIFF\0\0\0\0WAVEfmt ".utf8), nil, "RIFF of sound"),
    (Array("RIFF".utf8), nil, "cut short"),
    (Array("\0\0\0\u{1C}ftypavif\0\0\0\0mif1".utf8), "image/avif", "the major brand"),
    (Array("\0\0\0\u{1C}ftypmif1\0\0\0\0avif".utf8), "image/avif", "a compatible brand"),
    (Array("\0\0\0\u{1C}ftypheic\0\0\0\0mif1".utf8), "image/heic", "the major brand"),
    (Array("\0\0\0\u{1C}ftypisom\0\0\0\0mp42".utf8), nil, "a film"),
    (Array("\0\0\0\u{1C}ftyp".utf8), nil, "cut short"),
    ([0xFF, 0x0A, 0xFA], "image/jxl", "a bare codestream"),
    ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "image/jxl", "a container"),
    (Array("BM\u{1A}\0\0\0\0\0\0\0\u{36}\0\0\0(\0\0\0".utf8), "image/bmp", "a header of 40 bytes"),
    (Array("BM\u{1A}\0\0\0\0\0\0\0\u{1A}\0\0\0\u{0C}\0\0\0".utf8), "image/bmp", "one of 12 bytes"),
    (Array("BM\u{1A}\0\0\0\0\0\0\0\u{1A}\0\0\0\u{0D}\0\0\0".utf8), nil, "no header is so long"),
    (Array("BM\u{1A}\0\0\0\u{1}\0\0\0\u{36}\0\0\0(\0\0\0".utf8), nil, "a reserved word is in use"),
    (Array("BM\0\0\0\0".utf8), nil, "cut short"),
    (Array("BMW is a maker of cars and motorcycles".utf8), nil, "a text"),
    ([0, 0, 1, 0, 1, 0], "image/x-icon", "an icon"),
    ([0, 0, 2, 0, 1, 0], "image/x-icon", "a cursor"),
    ([0x49, 0x49, 0x2A, 0], "image/tiff", "little end first"),
    ([0x4D, 0x4D, 0, 0x2A], "image/tiff", "big end first"),
    (Array("<svg xmlns='http://www.w3.org/2000/svg'>".utf8), "image/svg+xml", "its root element"),
    (Array("\u{FEFF}\n <svg>".utf8), "image/svg+xml", "its root element behind white space"),
    (Array("<?xml version='1.0'?>\n<svg>".utf8), "image/svg+xml", "its root element behind a declaration"),
    (Array("<!-- a > b --><!-- --><svg/>".utf8), "image/svg+xml", "its root element behind comments"),
    (
      Array("<!DOCTYPE svg PUBLIC 'x' 'y' [<!ENTITY a 'b'>]><svg>".utf8), "image/svg+xml",
      "its root element behind its type"
    ),
    (Array("<svg:svg xmlns:svg='x'>".utf8), "image/svg+xml", "its root element with a namespace"),
    (Array("<svgx>".utf8), nil, "another root element"),
    (Array("<?xml version='1.0'?><rss><svg>".utf8), nil, "a feed"),
    (Array("<?xml version='1.0'?>".utf8), nil, "no root element"),
    (Array("<!-- drawn by hand -->\n<html><svg>".utf8), nil, "a page behind a comment"),
    (Array("<!DOCTYPE html><svg>".utf8), nil, "a page that begins with a drawing"),
    (Array("<!DOCTYPE html><html>".utf8), nil, "a page"),
    (Array("404 page not found".utf8), nil, "a text"),
    ([], nil, "nothing"),
    ([0xFF], nil, "one byte"),
  ]

  @Test(arguments: signatures)
  func `an image is known by its first bytes`(_ bytes: [UInt8], _ type: String?, _ reason: String) {
    #expect(MediaType.sniff(bytes, declared: nil) == type, "\(reason)")
  }

  static let declared: [(text: String, declared: String, type: String?)] = [
    ("<?xml version='1.0'?><svg>", "image/svg+xml", "image/svg+xml"),
    ("<!-- drawn by hand --><svg>", "image/SVG+xml; charset=utf-8", "image/svg+xml"),
    ("<!DOCTYPE html><html>", "image/svg+xml", nil),
    ("<html><svg></svg></html>", "image/svg+xml", nil),
    ("<!-- sorry --><html>", "image/svg+xml", nil),
    ("<!-- sorry", "image/svg+xml", nil),
    ("<!--" + String(repeating: "x", count: 600), "image/svg+xml", "image/svg+xml"),
    ("<!--" + String(repeating: "x", count: 600), "text/html", nil),
    ("not found", "image/svg+xml", nil),
    ("not found", "image/jpeg", nil),
    ("\u{FF}\u{D8}", "image/png", nil),
  ]

  @Test(arguments: declared)
  func `what the server says counts for SVG alone`(_ text: String, _ declared: String, _ type: String?) {
    #expect(MediaType.sniff(Array(text.utf8), declared: declared) == type)
  }

  @Test func `no prefix of a signature traps`() {
    for (bytes, _, _) in Self.signatures {
      for count in 0...bytes.count {
        let type = MediaType.sniff(Array(bytes.prefix(count)), declared: "image/svg+xml")
        _ = ImageStructure.isWhole(Array(bytes.prefix(count)), mediaType: type ?? "image/webp")
      }
    }
  }
}

struct ImageStructureTests {
  /// The header of a box.
  private static func box(_ size: UInt8, _ type: String) -> [UInt8] { [0, 0, 0, size] + Array(type.utf8) }

  static let rows: [(bytes: [UInt8], type: String, isWhole: Bool, reason: String)] = [
    ([0xFF, 0xD8, 0xFF, 0x00, 0xFF, 0xD9], "image/jpeg", true, "ends with the end of image"),
    ([0xFF, 0xD8, 0xFF, 0x00, 0xFF, 0xD9, 0x0A], "image/jpeg", true, "a line feed was appended"),
    ([0xFF, 0xD8, 0xFF, 0x00, 0xFF], "image/jpeg", false, "cut amid the mark"),
    (Array("\u{1A}PNG IHDR IEND".utf8) + [0xAE, 0x42, 0x60, 0x82], "image/png", true, "has its last chunk"),
    (Array("\u{1A}PNG IHDR IEN".utf8), "image/png", false, "cut amid the mark"),
    (Array("GIF89a...;".utf8), "image/gif", true, "has its trailer"),
    (Array("GIF89a...;\0\0".utf8), "image/gif", true, "zeros were appended"),
    (Array("GIF89a...".utf8), "image/gif", false, "has none"),
    (Array("GIF89a.;.".utf8), "image/gif", false, "the byte of a trailer amid the data"),
    (box(8, "ftyp") + box(9, "mdat") + [7], "image/avif", true, "each box in full"),
    (box(8, "ftyp") + box(10, "mdat") + [7], "image/avif", false, "the last box claims one byte more"),
    (box(8, "ftyp") + box(0, "mdat") + [7], "image/heic", true, "the last box reaches to the end"),
    (box(8, "ftyp") + box(1, "mdat") + box(0, "\0\0\0\u{10}"), "image/heic", true, "a box of long size"),
    (box(8, "ftyp") + box(1, "mdat") + box(0, "\0\0\0\u{11}"), "image/heic", false, "and one byte more"),
    (box(8, "ftyp") + box(1, "mdat"), "image/heic", false, "cut before the long size"),
    (
      box(8, "ftyp") + box(1, "mdat") + Array(repeating: 0xFF, count: 8), "image/heic", false,
      "says the most it can"
    ),
    (box(8, "ftyp") + box(7, "mdat"), "image/avif", false, "a box shorter than its header"),
    (box(8, "ftyp") + box(8, "mda").dropLast(), "image/avif", false, "cut within the header of a box"),
    (box(12, "JXL ") + [0x0D, 0x0A, 0x87, 0x0A] + box(8, "jxlc"), "image/jxl", true, "each box in full"),
    (box(12, "JXL ") + [0x0D, 0x0A, 0x87, 0x0A] + box(9, "jxlc"), "image/jxl", false, "one claims more"),
    ([0xFF, 0x0A, 0], "image/jxl", true, "a bare codestream tells nothing"),
    (Array("BM\u{8}\0\0\0..".utf8), "image/bmp", true, "as long as it says"),
    (Array("BM\u{9}\0\0\0..".utf8), "image/bmp", false, "shorter than it says"),
    (Array("BM\u{9}".utf8), "image/bmp", false, "cut within its header"),
    (Array("RIFF\u{4}\0\0\0WEBP".utf8), "image/webp", true, "as long as it says"),
    (Array("RIFF\u{5}\0\0\0WEBP".utf8), "image/webp", false, "shorter than it says"),
    (
      Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WEBP".utf8), "image/webp", false,
      "says the most it can"
    ),
    (Array("<svg><g/></svg>\n".utf8), "image/svg+xml", true, "its root is closed"),
    (Array("<svg><g/>".utf8), "image/svg+xml", false, "its root is open"),
    ([1], "image/tiff", true, "nothing tells"),
    ([], "image/jpeg", false, "nothing there"),
  ]

  @Test(arguments: rows)
  func `a body that was cut is told by its end`(
    _ bytes: [UInt8],
    _ type: String,
    _ isWhole: Bool,
    _ reason: String
  ) {
    #expect(ImageStructure.isWhole(bytes, mediaType: type) == isWhole, "\(reason)")
  }
}

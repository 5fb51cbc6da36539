import FeedimgModel
import Testing

struct ImageFormatTests {
  static let signatures: [(bytes: [UInt8], type: String?, reason: String)] = [
    ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg", "the first bytes of an image"),
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
    (Array("\0\0\u{1}\0ftypisom\0\0\0\0mp42".utf8), nil, "a film whose size looks like an icon"),
    (Array("\0\0\0\u{1C}ftyp".utf8), nil, "cut short"),
    ([0xFF, 0x0A, 0xFA], "image/jxl", "a bare codestream"),
    ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "image/jxl", "a container"),
    (Array("BM\u{1A}\0\0\0\0\0\0\0\u{36}\0\0\0(\0\0\0".utf8), "image/bmp", "a header of 40 bytes"),
    (Array("BM\u{1A}\0\0\0\0\0\0\0\u{1A}\0\0\0\u{0C}\0\0\0".utf8), "image/bmp", "one of 12 bytes"),
    (Array("BM\u{1A}\0\0\0\0\0\0\0\u{1A}\0\0\0\u{0D}\0\0\0".utf8), nil, "no header is so long"),
    (Array("BM\u{1A}\0\0\0\u{1}\0\0\0\u{36}\0\0\0(\0\0\0".utf8), nil, "a reserved word is in use"),
    (Array("BM\0\0\0\0".utf8), nil, "cut short"),
    (Array("BMW makes cars and motorcycles".utf8), nil, "a text"),
    ([0, 0, 1, 0, 1, 0], "image/x-icon", "an icon"),
    ([0, 0, 2, 0, 1, 0], "image/x-icon", "a cursor"),
    ([0x49, 0x49, 0x2A, 0], "image/tiff", "little-endian"),
    ([0x4D, 0x4D, 0, 0x2A], "image/tiff", "big-endian"),
    (Array("<svg xmlns='http://www.w3.org/2000/svg'>".utf8), "image/svg+xml", "its root element"),
    (Array("\u{FEFF}\n <svg>".utf8), "image/svg+xml", "its root element after white space"),
    (Array("<?xml version='1.0'?>\n<svg>".utf8), "image/svg+xml", "its root element after a declaration"),
    (Array("<!-- a > b --><!-- --><svg/>".utf8), "image/svg+xml", "its root element after comments"),
    (
      Array("<!DOCTYPE svg PUBLIC 'x' 'y' [<!ENTITY a 'b'>]><svg>".utf8), "image/svg+xml",
      "its root element after a document type"
    ),
    (Array("<svg:svg xmlns:svg='x'>".utf8), "image/svg+xml", "its root element with a namespace"),
    (Array("<svgx>".utf8), nil, "another root element"),
    (Array("<?xml version='1.0'?><rss><svg>".utf8), nil, "a feed"),
    (Array("<?xml version='1.0'?>".utf8), nil, "no root element"),
    (Array("<!-- drawn by hand -->\n<html><svg>".utf8), nil, "a page after a comment"),
    (Array("<!DOCTYPE html><svg>".utf8), nil, "a page that begins with a drawing"),
    (Array("<!DOCTYPE html><html>".utf8), nil, "a page"),
    (Array("404 page not found".utf8), nil, "a text"),
    ([], nil, "nothing"),
    ([0xFF], nil, "one byte"),
  ]

  @Test(arguments: signatures)
  func `an image is recognised by its first bytes`(_ bytes: [UInt8], _ type: String?, _ reason: String) {
    #expect(ImageFormat.sniff(bytes, declared: nil) == type, "\(reason)")
  }

  static let declared: [(text: String, declared: String, type: String?)] = [
    ("<?xml version='1.0'?><svg>", "image/svg+xml", "image/svg+xml"),
    ("<!-- drawn by hand --><svg>", "image/SVG+xml; charset=utf-8", "image/svg+xml"),
    ("<!DOCTYPE html><html>", "image/svg+xml", nil),
    ("<html><svg></svg></html>", "image/svg+xml", nil),
    ("<!-- sorry --><html>", "image/svg+xml", nil),
    ("<!-- sorry", "image/svg+xml", nil),
    ("<!--" + String(repeating: "x", count: 600), "image/svg+xml", "image/svg+xml"),
    (
      "<!DOCTYPE svg [<!ELEMENT g ANY>" + String(repeating: " ", count: 600), "image/svg+xml", "image/svg+xml"
    ),
    (
      "<!DOCTYPE svg [<!ENTITY a 'b>c'>" + String(repeating: " ", count: 600), "image/svg+xml",
      "image/svg+xml"
    ),
    ("<!DOCTYPE svg " + String(repeating: " ", count: 600), "image/svg+xml", "image/svg+xml"),
    ("<!--" + String(repeating: "x", count: 600), "text/html", nil),
    ("not found", "image/svg+xml", nil),
    ("not found", "image/jpeg", nil),
    ("\u{FF}\u{D8}", "image/png", nil),
  ]

  @Test(arguments: declared)
  func `the server's type counts for SVG only`(_ text: String, _ declared: String, _ type: String?) {
    #expect(ImageFormat.sniff(Array(text.utf8), declared: declared) == type)
  }

  @Test func `no prefix of a signature traps`() {
    for (bytes, _, _) in Self.signatures {
      for count in 0...bytes.count {
        let type = ImageFormat.sniff(Array(bytes.prefix(count)), declared: "image/svg+xml")
        _ = ImageFormat(mediaType: type ?? "image/webp")?.isWhole(Array(bytes.prefix(count)))
      }
    }
  }
}

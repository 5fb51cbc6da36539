import FeedimgModel
import Testing

struct Base64Tests {
  static let texts: [(String, [UInt8]?)] = [
    ("", []), ("Zg==", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
    ("Zm9vYmFy", Array("foobar".utf8)),  // RFC 4648 §10
    ("Zg", [0x66]), ("_-8", [0xFF, 0xEF]), ("/+8=", [0xFF, 0xEF]),
    ("Z", nil), ("Zm9vY", nil), ("Zg===", nil), ("Z g=", nil), ("Zg=x", nil), ("ü", nil),
  ]

  @Test(arguments: texts) func `base64 is decoded completely or refused`(_ text: String, _ bytes: [UInt8]?) {
    #expect(Base64.decode(text) == bytes)
  }
}

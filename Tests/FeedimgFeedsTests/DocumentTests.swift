import FeedimgModel
import Testing

@testable import FeedimgFeeds

/// Hostile, broken and long documents, and their encodings.
@Suite struct DocumentTests {
  private static let enclosure = #"<enclosure url="https://x.example/a" type="image/png"/>"#

  private func read(_ text: String, _ format: FeedFormat? = nil) throws -> FeedDocument {
    try FeedReader(format: format).read(Array(text.utf8))
  }

  private func error(_ bytes: [UInt8], _ format: FeedFormat? = nil) -> FeedError? {
    do { _ = try FeedReader(format: format).read(bytes) } catch { return error }
    return nil
  }

  @Test func `entities of a document neither grow nor read files`() throws {
    var laughs = "<!DOCTYPE rss [<!ENTITY l0 \"lol\">"
    for level in 1...9 {
      laughs += "<!ENTITY l\(level) \"\(String(repeating: "&l\(level - 1);", count: 10))\">"
    }
    let clock = ContinuousClock()
    let start = clock.now
    for document in [
      "\(laughs)]><rss><channel><item><description>&l9;</description></item></channel></rss>",
      "\(laughs)]><rss><channel><item><enclosure url=\"&l9;\" type=\"image/png\"/></item></channel></rss>",
      "<!DOCTYPE rss [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><rss><channel><item><description>&f;</description></item></channel></rss>",
      "<!DOCTYPE rss [<!ENTITY f SYSTEM \"http://127.0.0.1:1/\">]><rss><channel><item><guid>&f;</guid></item></channel></rss>",
      "<!DOCTYPE rss [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p; ]><rss><channel><item><guid>&q;</guid>\(Self.enclosure)</item></channel></rss>",
    ] {
      switch Result(catching: { try read(document) }) {
      case .success(let document): #expect(document.items.allSatisfy { $0.id?.contains("root") != true })
      case .failure(let error): #expect("\(error)".contains("not XML"), "\(error)")
      }
    }
    #expect(clock.now - start < .seconds(5))
  }

  @Test func `a nested document is one clear error`() {
    let deep = String(repeating: "<a>", count: 100_000)
    #expect(
      error(Array("<rss><channel><item>\(deep)".utf8))?.message.contains("nested more than 256 deep") == true
    )
    #expect(error(Array("<html>\(String(repeating: "<b>", count: 100_000))".utf8))?.code == .malformed)
    #expect(
      error(Array(("{\"posts\":" + String(repeating: "[", count: 100_000)).utf8), .lemmy)?.code == .malformed
    )
  }

  @Test func `a tag with many attributes is one clear error, and not slow`() {
    let attributes = (0..<200_000).map { " a\($0)=\"\"" }.joined()
    let start = ContinuousClock.now
    for text in ["<rss><channel><item\(attributes)/></channel></rss>", "<html><p\(attributes)>"] {
      #expect(error(Array(text.utf8))?.message == "an element has more than 1000 attributes")
    }
    #expect(.now - start < .seconds(5))
    let few = (0..<900).map { " a\($0)=\"\"" }.joined()
    #expect(error(Array("<html><p\(few)>".utf8)) == nil)
  }

  @Test func `every cut of a document gives its items or one error`() throws {
    let rss = "<?xml version=\"1.0\"?><rss><channel><item>\(Self.enclosure)</item></channel></rss>"
    for length in 0..<rss.utf8.count {
      let error = error(Array(rss.utf8.prefix(length)), .rss)
      #expect(error?.code == .malformed, "\(length)")
      #expect(error?.message.contains("\n") == false)
    }
    let json = #"[{"id":"1","media_attachments":[{"type":"image","url":"https://x.example/é"}]}]"#
    for length in 0..<json.utf8.count {
      #expect(error(Array(json.utf8.prefix(length)), .mastodon)?.code == .malformed, "\(length)")
    }
    let html = #"<html><body><p>é<img src="https://x.example/a" alt="é"></body></html>"#
    for length in 0..<html.utf8.count {
      #expect(try FeedReader(format: .html).read(Array(html.utf8.prefix(length))).items.count <= 1)
    }
  }

  @Test func `garbage and another format are one clear error`() {
    for (text, format, part) in [
      ("\u{1}\u{2}garbage", nil, "expected a feed in one of the formats mastodon, "),
      ("", nil, "expected a feed"), ("<svg/>", nil, "expected a feed"),
      ("17", .mastodon, "expected an object or"),
      ("<rss><channel></rss>", .rss, "not XML"),
      ("<feed/>", .rss, "expected the element `rss`, found `feed`"),
      ("<rss/>", .atom, "expected the element `feed`, found `rss`"), ("{]", .reddit, "not JSON"),
      ("null", .pleroma, "expected an object or an array, found null"),
      ("<rss/><rss/>", .rss, "not XML"), ("nothing", .rss, "not XML"), ("<rss/>", .mastodon, "not JSON"),
      ("<rss>&undefined;</rss>", .rss, "not XML"),
    ] as [(String, FeedFormat?, String)] {
      #expect(error(Array(text.utf8), format)?.message.contains(part) == true, "\(text)")
    }
    #expect(error(Array("<rss>\n<channel>\n</rss>".utf8))?.line == 3)
    #expect(error(Array("[\n{]".utf8), .mastodon)?.line == 2)
  }

  @Test func `the format is detected by members and elements that no other format has`() {
    for (text, format) in [
      (##"[{"id":"1","media_attachments":[]}]"##, .mastodon),
      (##"[{"pleroma":{},"media_attachments":[]}]"##, .pleroma),
      (##"[{"acct":"a","avatar_static":"b"}]"##, .mastodon),
      (##"[{"shortcode":"a","static_url":"b"}]"##, .mastodon),
      (##"{"feed":[{"post":{"embed":{"$type":"app.bsky.embed.images#view"}}}]}"##, .bluesky),
      (##"{"posts":[{"post":{"id":1,"ap_id":"u","community_id":2}}]}"##, .lemmy),
      (##"{"kind": "Listing", "data": {}}"##, .reddit), (##"{"version":"1","items":[]}"##, .jsonFeed),
      ("<rss>", .rss), ("<rdf:RDF>", .rss), ("\n<feed>", .atom),
      ("<!DOCTYPE html>", .html), ("<opml>", nil), (##"{"originalImage":"https://x.example/a"}"##, nil),
      ("", nil),
    ] as [(String, FeedFormat?)] {
      #expect(FeedFormat(detecting: Array(text.utf8)) == format, "\(text)")
    }
  }

  // MARK: Encodings

  private static func document(_ declaration: String, _ text: String) -> String {
    "\(declaration)<rss><channel><item><description>&lt;img src=\"https://x.example/a\" alt=\"\(text)\"&gt;</description></item></channel></rss>"
  }

  struct Encoded: CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var testDescription: String { name }

    static func latin(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

    static func utf16(_ text: String, isLittle: Bool, mark: Bool) -> [UInt8] {
      let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
      return units.flatMap { unit in
        let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        return isLittle ? bytes.reversed() : bytes
      }
    }
  }

  static let encoded: [Encoded] = [
    Encoded(name: "missing", bytes: Array(document("", "é").utf8)),
    Encoded(name: "missing, and Latin-1", bytes: Encoded.latin(document("", "é"))),
    Encoded(
      name: "UTF-8 declared, and Latin-1",
      bytes: Encoded.latin(document("<?xml version=\"1.0\" encoding=\"utf-8\"?>", "é"))
    ),
    Encoded(
      name: "Latin-1",
      bytes: Encoded.latin(document("<?xml version='1.0' encoding='ISO-8859-1'?>", "é"))
    ),
    Encoded(
      name: "Latin-1 declared, and UTF-8",
      bytes: Array(document("<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>", "é").utf8)
    ),
    Encoded(
      name: "UTF-16 declared, and UTF-8",
      bytes: Array(document("<?xml version=\"1.0\" encoding=\"utf-16\"?>", "é").utf8)
    ),
    Encoded(
      name: "an unknown one",
      bytes: Array(document("<?xml version=\"1.0\" encoding=\"klingon\"?>", "é").utf8)
    ),
    Encoded(
      name: "an unknown one, and Latin-1",
      bytes: Encoded.latin(document("<?xml version=\"1.0\" encoding=\"klingon\"?>", "é"))
    ),
    Encoded(name: "UTF-8 with a mark", bytes: [0xEF, 0xBB, 0xBF] + Array(document("", "é").utf8)),
    Encoded(
      name: "UTF-16 with a mark",
      bytes: Encoded.utf16(document("", "é"), isLittle: true, mark: true)
    ),
    Encoded(
      name: "big-endian UTF-16 with a mark, UTF-8 declared",
      bytes: Encoded.utf16(
        document("<?xml version=\"1.0\" encoding=\"utf-8\"?>", "é"),
        isLittle: false,
        mark: true
      )
    ),
    Encoded(
      name: "UTF-16 without a mark",
      bytes: Encoded.utf16(document("", "é"), isLittle: true, mark: false)
    ),
    Encoded(
      name: "a Cyrillic one",
      bytes: Array(document("<?xml version=\"1.0\" encoding=\"koi8-r\"?>", "").utf8).replacing(
        Array("alt=\"".utf8),
        with: Array("alt=\"".utf8) + [0xC1, 0xC2]
      )
    ),
  ]

  @Test(arguments: encoded) func `a document of any encoding has its picture and text`(
    document: Encoded
  ) throws {
    let items = try FeedReader().read(document.bytes).items
    #expect(items.map { $0.original?.url.text } == ["https://x.example/a"])
    #expect(items.first?.alternativeText == (document.name == "a Cyrillic one" ? "аб" : "é"))
  }

  @Test func `a page without UTF-8 has the encoding of its meta element, or Windows-1252`() throws {
    func text(_ bytes: [UInt8]) throws -> String? {
      try FeedReader(format: .html).read(bytes).items.first?.alternativeText
    }
    let image = Array("<img src=\"https://x.example/a\" alt=\"".utf8)
    let end = Array("\">".utf8)
    #expect(try text(image + [0x93] + end) == "\u{201C}")
    #expect(try text(image + [0x93, 0x81] + end) == "\u{93}\u{81}")
    #expect(try text(Array("<meta charset=koi8-r>".utf8) + image + [0xC1] + end) == "а")
    #expect(try text(Array("<meta charset=windows-1251>".utf8) + image + Array("é".utf8) + end) == "é")
  }

  // MARK: Length

  @Test func `a document over the limit is refused, and an entry of XML over its limit is skipped`() throws {
    for (format, limit, name) in [
      (.rss, FeedReader.maximumLength, "64 MiB for XML and HTML"),
      (.mastodon, FeedReader.maximumJSONLength, "16 MiB for JSON"),
    ] as [(FeedFormat, Int, String)] {
      let found = error([UInt8](repeating: UInt8(ascii: " "), count: limit + 1), format)
      #expect(found?.code == .tooLong)
      #expect(found?.message == "the document is longer than the limit of \(name)")
    }
    let text = String(repeating: "x", count: FeedLimits.entryLength)
    let attributes = String(repeating: "<a b='\(text.prefix(FeedLimits.entryLength / 64))'/>", count: 64)
    for part in ["<description>\(text)</description>", attributes] {
      let first = "<item><guid>1</guid>\(Self.enclosure)\(part)</item>"
      let document = try read("<rss><channel>\(first)<item>\(Self.enclosure)</item></channel></rss>")
      #expect(document.items.count == 1)
      #expect(document.warnings.map(\.description) == ["entry 1 (`1`): longer than the limit of 16 MiB"])
    }
  }

  @Test func `pictures beyond the limit of an entry are ignored with one warning`() throws {
    let images = (0..<FeedLimits.versions + 3).map { "&lt;img src='https://x.example/\($0)'&gt;" }.joined()
    let document = try read(
      "<rss><channel><item><description>\(images)</description></item></channel></rss>"
    )
    #expect(document.items.count == FeedLimits.versions)
    #expect(document.warningCount == 1)
    #expect(document.warnings.first?.message.hasPrefix("more than 10000 versions of pictures") == true)
  }

  @Test func `only the first of many warnings are kept`() throws {
    let document = try read("[\(Array(repeating: "17", count: 1000).joined(separator: ","))]", .mastodon)
    #expect(document.warnings.count == FeedLimits.warnings)
    #expect(document.warningCount == 1000)
  }
}

import FeedimgModel
import FoundationEssentials
import Testing

@testable import FeedimgFeeds

/// New addresses of pictures in feeds, and all other bytes as they were.
@Suite struct FeedRewriterTests {
  /// A document in which `{URL}` stands for a reference, and `{URL=ADDRESS}` for one to replace.
  ///
  /// An address is `original`, or `original+thumbnail`, or `+thumbnail`, each without `https://x.example/`.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String
    var testDescription: String { name }

    init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

    var before: String { replacing { $0.split(separator: "=>")[0] } }
    var after: String { replacing { "<<\($0.split(separator: "=>")[1])>>" } }

    private func replacing(_ part: (Substring) -> some StringProtocol) -> String {
      var (result, rest) = ("", text[...])
      while let start = rest.firstRange(of: "⟦"), let end = rest.firstRange(of: "⟧") {
        result += rest[..<start.lowerBound] + part(rest[start.upperBound..<end.lowerBound])
        rest = rest[end.upperBound...]
      }
      return result + rest
    }
  }

  private static func rss(_ text: String) -> String {
    """
    <?xml version="1.0"?>\r\n<!DOCTYPE rss [<!ENTITY x "<img src='a.jpg'>"><!-- ' ]> -->]>
    <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:m="http://search.yahoo.com/mrss/"
      xmlns:content="http://purl.org/rss/1.0/modules/content/"
      xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><!-- <img src="a.jpg"> -->
    <title>a &amp; b</title><link>https://x.example/</link>\(text)</channel></rss>\n
    """
  }

  private static func item(_ text: String) -> String { rss("<item><title>t</title>\(text)</item>") }

  static let rows = [
    Row("an enclosure", item(#"<enclosure  type='image/png' url = "⟦a.png=>a.png⟧" length="1"/>"#)),
    Row("the enclosure of a podcast stays", item(#"<enclosure type="audio/mpeg" url="a.mp3"/>"#)),
    Row("the link of an item stays", item("<link>https://x.example/a.png</link><img src='⟦a.png=>a.png⟧'/>")),
    Row(
      "an original and its thumbnail",
      item(
        """
        <media:content url="⟦https://x.example/a.jpg=>a.jpg+b.jpg⟧" medium="image">\
        <media:thumbnail url="⟦b.jpg=>+b.jpg⟧"/></media:content>
        """
      )
    ),
    Row("another prefix", item(#"<m:content url="⟦a.jpg=>a.jpg⟧" type="image/jpeg"></m:content>"#)),
    Row("a video stays", item(#"<media:content url="a.mp4" type="video/mp4"/>"#)),
    Row("the image of a podcast", rss(#"<itunes:image href="⟦a.jpg=>+a.jpg⟧"/>"#)),
    Row(
      "the image of a channel",
      rss(
        "<image><url> ⟦https://x.example/a.jpg=>+a.jpg⟧\n</url><link>https://x.example/a.jpg</link></image>"
      )
    ),
    Row(
      "the image of a channel in CDATA",
      rss("<image><url><![CDATA[⟦a.jpg=>+a.jpg⟧]]></url></image>")
    ),
    Row(
      "HTML in CDATA",
      item(
        """
        <description><![CDATA[<p>a &lt;img src="a.jpg"&gt; <a href="a.jpg">x</a><IMG alt="a>b" \
        SRC=⟦a.jpg=>a.jpg⟧><img src='⟦b.jpg?x=1&amp;y=2=>b.jpg?x=1&y=2⟧'>]]></description>
        """
      )
    ),
    Row(
      "escaped HTML with two levels of references",
      item(
        """
        <content:encoded>&lt;p&gt;https://x.example/a.jpg&lt;img src=&quot;⟦a.jpg?x=1&amp;amp;y=2=>\
        a.jpg?x=1&y=2⟧&quot;/&gt;&lt;img src="⟦b.jpg?x=1&amp;y=2=>b.jpg?x=1&y=2⟧"&gt;</content:encoded>
        """
      )
    ),
    Row(
      "numeric references",
      item("<description>&#60;img src=&#x22;⟦a&#46;jpg&amp;#x3F;q=>a.jpg?q⟧&#x22;&#62;</description>")
    ),
    Row(
      "an unquoted address at the end of CDATA",
      item("<description><![CDATA[<img src=⟦a.jpg=>a.jpg⟧]]>&gt; x</description>")
    ),
    Row(
      "an address across two CDATA sections stays",
      item("<description><![CDATA[<img src='a]]><![CDATA[.jpg'>]]></description>")
    ),
    Row(
      "srcset",
      item(
        """
        <description><![CDATA[<img src="⟦s.jpg=>+s.jpg⟧" srcset="⟦s.jpg=>+s.jpg⟧ 400w,\
        ⟦m.jpg=>m.jpg+s.jpg⟧ 800w , ⟦https://x.example/l.jpg=>l.jpg+s.jpg⟧ 1600w">]]></description>
        """
      )
    ),
    Row(
      "picture, video and pictures that load late",
      item(
        """
        <description><![CDATA[<picture><source srcset="⟦a.webp=>a.webp⟧, ⟦b.webp=>b.webp⟧ 2x"><img \
        src="⟦a.jpg=>a.jpg⟧"></picture><video poster="⟦p.jpg=>+p.jpg⟧" src="v.mp4"><source src="v.webm"></video>\
        <img src="data:image/gif;base64,R0lG" data-src="⟦c.jpg=>c.jpg⟧" data-srcset="⟦d.jpg=>d.jpg⟧ 2x">\
        ]]></description>
        """
      )
    ),
    Row(
      "comments, scripts and pictures of one pixel stay",
      item(
        """
        <description><![CDATA[<!-- <img src="a.jpg"> --><script>"<img src='a.jpg'>"</script>\
        <img src="count.gif" width="1" height=1><textarea><img src="a.jpg"></textarea><img src="⟦b.jpg=>b.jpg⟧">\
        ]]></description>
        """
      )
    ),
    Row(
      "broken HTML",
      item(
        """
        <description><![CDATA[a < b <img src="⟦a.jpg=>a.jpg⟧"<p><img src=""><img src><img alt='x src="b.jpg">\
        ]]></description>
        """
      )
    ),
    Row("a description of the channel stays", rss("<description>&lt;img src='a.jpg'></description>")),
    Row(
      "xml:base",
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://x.example/a/"><logo>⟦l.png=>+a/l.png⟧</logo>\
      <icon>⟦/i.ico=>+i.ico⟧</icon><entry xml:base="b/"><title type="html">&lt;img src="x.jpg"></title>\
      <link rel="enclosure" type="image/png" href="⟦e.png=>a/b/e.png⟧"/><link href="e.png"/>\
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="f.png"><img src="⟦f.png=>a/b/f.png⟧" \
      /></a></div></content><summary type="html">&lt;img src="⟦g.png=>a/b/g.png⟧"></summary>\
      <summary>&lt;img src="g.png"></summary></entry></feed>
      """
    ),
    Row(
      "RSS 1.0",
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">\
      <image rdf:about="i.png"><url>⟦i.png=>+i.png⟧</url></image>\
      <item><description>&lt;img src='⟦a.jpg=>a.jpg⟧'></description></item></rdf:RDF>
      """
    ),
    Row(
      "JSON Feed",
      #"""
      { "version" : "https://jsonfeed.org/version/1.1", "icon":"⟦i.png=>+i.png⟧", "home_page_url":"https://x.example/",
        "items" : [ { "id":1.50, "url":"https:\/\/x.example\/a.jpg", "image": "⟦https:\/\/x.example\/a.jpg=>a.jpg⟧",
        "banner_image":"⟦b\u002ejpg=>b.jpg⟧","authors":[{"avatar":"⟦f.png=>+f.png⟧"}], "content_text":"a.jpg",
        "attachments":[{"mime_type":"image/png","url":"⟦c.png=>c.png⟧"},{"mime_type":"audio/mpeg","url":"d.mp3"}],
        "content_html":"<p>\"a.jpg\"<a href=\"a.jpg\"><img src=\"⟦e.jpg?\u0026amp;x=>e.jpg?&x⟧\">ä\ud83d\ude00" } ] }

      """#
    ),
  ]

  private static func rewriter() throws -> FeedRewriter {
    func short(_ url: String) -> String { url.replacing("https://x.example/", with: "") }
    return FeedRewriter(base: try ImageURL("https://x.example/feed.xml")) { original, thumbnail in
      "<<\(original.map(short) ?? "")\(thumbnail.map { "+" + short($0) } ?? "")>>"
    }
  }

  @Test(arguments: rows) func `pictures get new addresses, and all other bytes stay`(_ row: Row) throws {
    let changed = try Self.rewriter().rewritten(Array(row.before.utf8))
    #expect(changed.map { String(decoding: $0, as: UTF8.self) } ?? row.before == row.after)
  }

  @Test func `a feed passes unchanged if its new addresses are too long together`() throws {
    let feed = Self.item((0..<20).map { #"<enclosure type="image/png" url="\#($0).png"/>"# }.joined())
    let long = String(repeating: "a", count: 1 << 20)
    var count = 0
    let rewriter = FeedRewriter(base: try ImageURL("https://x.example/feed.xml")) { _, _ in
      count += 1
      return long
    }
    #expect(rewriter.rewritten(Array(feed.utf8)) == nil)
    // The limit is 16 MiB.
    #expect(count == 17)
  }

  @Test func `bases that are too long are ignored`() throws {
    let base = "https://y.example/\(String(repeating: "a", count: FeedLimits.baseLength))/"
    let html = "&lt;base href='\(base)'&gt;&lt;img src='⟦a.jpg=>a.jpg⟧'&gt;"
    let row = Row("", Self.item("<description xml:base='\(base)'>\(html)</description>"))
    let changed = try #require(try Self.rewriter().rewritten(Array(row.before.utf8)))
    #expect(String(decoding: changed, as: UTF8.self) == row.after)
  }

  /// Encodings whose bytes other than ASCII are no UTF-8.
  @Test func `other encodings keep their bytes`() throws {
    let text = Self.item(
      "<description>\u{A9} &lt;img src='⟦a.jpg=>a.jpg⟧'&gt; &lt;img src='\u{A9}.jpg'&gt;</description>"
    )
    let row = Row("", text.replacing(#"version="1.0"?"#, with: #"version="1.0" encoding="ISO-8859-1"?"#))
    func latin(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }
    #expect(try Self.rewriter().rewritten(latin(row.before)) == latin(row.after))
  }

  @Test(arguments: [true, false]) func `UTF-16 stays UTF-16`(_ isLittle: Bool) throws {
    let row = Row("", Self.item("<description>ä😀 &lt;img src='⟦ä.jpg=>ä.jpg⟧'&gt;</description>"))
    func utf16(_ text: String) -> [UInt8] {
      ("\u{FEFF}" + text).utf16.flatMap { unit in
        let bytes = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
        return isLittle ? bytes : bytes.reversed()
      }
    }
    #expect(try Self.rewriter().rewritten(utf16(row.before)) == utf16(row.after))
  }

  static let others = [
    "", "<", "<rss", "{", "text a.jpg", "<!DOCTYPE html><html><body><img src='a.jpg'></body></html>",
    "<html><rss><item><enclosure type='image/png' url='a.png'/></item></rss></html>",
    "<rss><channel><item><enclosure type='image/png' url='a.png'/></item></channel>",
    "<rss><channel><item><description>no picture</description></item></channel></rss>",
    #"{"version":"https://jsonfeed.org/version/1","items":[{"image":"a.jpg"}]"#,
    #"[{"id":"1","media_attachments":[{"type":"image","url":"https://x.example/a.jpg"}]}]"#,
    "<?xml version='1.0' encoding='iso-2022-jp'?><rss><channel><item><enclosure type='image/png' url='a.png'/>"
      + "</item></channel></rss>",
  ]

  @Test(arguments: others) func `a document that is no whole feed has no new addresses`(_ text: String) throws
  {
    #expect(try Self.rewriter().rewritten(Array(text.utf8)) == nil)
  }

  @Test func `a tag with very many attributes and a very long srcset are not slow`() throws {
    let attributes = String(repeating: "src=a ", count: 30_000)
    let candidates = (1...30_000).map { "a\($0).jpg \($0)w" }.joined(separator: ", ")
    let html = "<![CDATA[<img \(attributes)><img srcset='\(candidates)'>]]>"
    let document = Array(Self.item("<description>\(html)</description>").utf8)
    let changed = try #require(try Self.rewriter().rewritten(document))
    #expect(changed.count > document.count)
  }

  static let samples = SampleTests.samples.filter { [.rss, .atom, .jsonFeed].contains($0.format) }

  @Test(arguments: samples)
  func `each picture of a real feed has a new address, and all other bytes stay`(
    _ sample: SampleTests.Sample
  ) throws {
    let document = try sample.file(sample.input)
    let base = try ImageURL("https://x.example/")
    let rewriter = FeedRewriter(base: base) { original, thumbnail in
      (original ?? thumbnail).map { "<<\($0)>>" }
    }
    let changed = String(decoding: try #require(rewriter.rewritten(document)), as: UTF8.self)
    for item in try FeedReader(base: base).read(document).items {
      for url in [item.original, item.thumbnail].compactMap(\.?.url.text) {
        #expect(changed.contains("<<\(url)>>"))
      }
    }
    let restored = changed.replacing("<<", with: "").replacing(">>", with: "")
    #expect(restored == String(decoding: document, as: UTF8.self))
  }

  @Test func `a feed cut or changed anywhere is read without a fault`() throws {
    let rewriter = try Self.rewriter()
    for row in Self.rows {
      let bytes = Array(row.before.utf8)
      for index in stride(from: 0, to: bytes.count, by: 7) {
        var other = bytes
        other[index] = Array("<>\"'&;/![]-\\ \u{0}".utf8)[index % 13]
        _ = rewriter.rewritten(other)
        // The scanner alone, because libxml2 refuses most of these.
        for isXML in [true, false] {
          var scanner = MarkupScanner(isXML ? other : Array(bytes[..<index]), isXML: isXML)
          while scanner.next() != nil {}
        }
      }
    }
  }
}

import FeedimgFeeds
import FeedimgModel
import Testing

/// What RSS, Atom and HTML say in surprising ways.
@Suite struct MarkupTrapTests {
  private static func rss(_ item: String, channel: String = "") -> String {
    """
    <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
    <channel><image><url>https://x.example/icon</url></image>\(channel)<item><guid>g</guid>\(item)</item></channel></rss>
    """
  }

  /// Shorter than a base may be, and longer than half of it.
  private static let longFolder = String(repeating: "a", count: 600) + "/"

  static let rssTraps = [
    Trap(
      "a picture with two images",
      .rss,
      rss(
        """
        <description>&lt;picture&gt;&lt;source srcset="https://x.example/s 400w, https://x.example/l 1600w"&gt;
        &lt;img src="https://x.example/a"&gt;&lt;img src="https://x.example/b"&gt;&lt;/picture&gt;</description>
        """
      ),
      ["l > s", "b > -"]
    ),
    Trap(
      "several enclosures",
      .rss,
      rss(
        """
        <enclosure url="https://x.example/a" type="image/jpeg" length="100"/>
        <enclosure url="https://x.example/v" type="video/mp4"/><enclosure url=" https://x.example/b " type="IMAGE/PNG" length=""/>
        """
      ),
      ["a > -", "b > -"]
    ),
    Trap(
      "escaped HTML and the same picture again",
      .rss,
      rss(
        """
        <description>&lt;p&gt;&lt;img src="https://x.example/a?b=1&amp;amp;c=2" alt="A"&gt;</description>
        <content:encoded><![CDATA[<img src="https://x.example/a?b=1&amp;c=2"><img src='https://x.example/b'>]]></content:encoded>
        """
      ),
      ["a?b=1&c=2 > -", "b > -"]
    ),
    Trap(
      "an enclosure that the text repeats",
      .rss,
      rss(
        """
        <description>&lt;img src="https://x.example/a"&gt;</description>
        <enclosure url="https://x.example/a" type="image/png" length="7"/><media:thumbnail url="https://x.example/t"/>
        """
      ),
      ["a > t"]
    ),
    Trap(
      "an undeclared prefix",
      .rss,
      "<rss><channel><item><media:content url=\"https://x.example/a\" medium=\"image\"/></item></channel></rss>",
      ["a > -"]
    ),
    Trap(
      "another prefix for the namespace",
      .rss,
      """
      <rss xmlns:m="http://search.yahoo.com/mrss"><channel><item><m:content url="https://x.example/a" type="image/gif"/></item>
      </channel></rss>
      """,
      ["a > -"]
    ),
    Trap(
      "duplicate, blank and padded URLs",
      .rss,
      rss(
        """
        <media:content url="https://x.example/a" medium="image"/><media:content url="\n https://x.example/a " medium="image"/>
        <media:content url=" " medium="image"/><media:content medium="image"/>
        <media:thumbnail url=""/><media:thumbnail url="https://x.example/a"/>
        """
      ),
      ["a > -"]
    ),
    Trap(
      "relative to the site",
      .rss,
      rss(
        #"<media:content url="/a b" medium="image"/>"#,
        channel: "<link>https://x.example/blog/</link>"
      ),
      ["a%20b > -"]
    ),
    Trap(
      "an address of the site that is too long for a base",
      .rss,
      rss(
        #"<media:content url="/a" medium="image"/>"#,
        channel: "<link>https://x.example/\(longFolder)\(longFolder)</link>"
      ),
      [],
      warnings: ["`/a` is relative, and the document has no base URL"]
    ),
    Trap(
      "relative to xml:base",
      .rss,
      rss(#"<description xml:base="https://x.example/c/">&lt;img src="../a"&gt;</description>"#),
      ["a > -"]
    ),
    Trap(
      "values of xml:base that are too long together",
      .rss,
      """
      <rss xml:base="https://x.example/"><channel><item xml:base="\(longFolder)"><description xml:base="\(longFolder)">
      &lt;img src="../a"&gt;</description></item></channel></rss>
      """,
      ["a > -"]
    ),
    Trap(
      "one picture in many sizes",
      .rss,
      rss(
        """
        <media:group><media:content url="https://x.example/s" medium="image" width="150"/>
        <media:content url="https://x.example/l" medium="image" width="1600" height="900" fileSize="9000"/>
        <media:content url="https://x.example/m" medium="image" width="640"/></media:group>
        """
      ),
      ["l > m"]
    ),
    Trap(
      "several pictures without a group",
      .rss,
      rss(
        """
        <media:content url="https://x.example/a" type="image/jpeg"><media:thumbnail url="https://x.example/s"/></media:content>
        <media:content url="https://x.example/b" type="image/jpeg"/><media:thumbnail url="https://x.example/t" width="320"/>
        """
      ),
      ["a > t", "b > -"]
    ),
    Trap(
      "a video with a thumbnail",
      .rss,
      rss(
        """
        <media:content url="https://x.example/v" type="video/mp4"><media:thumbnail url="https://x.example/t"/></media:content>
        """
      ),
      ["poster: - > t"]
    ),
    Trap(
      "the cover of an episode",
      .rss,
      rss(
        #"<enclosure url="https://x.example/e.mp3" type="audio/mpeg"/><media:thumbnail url="https://x.example/t"/>"#
      ),
      ["poster: - > t"]
    ),
    Trap(
      "a medium beats a type",
      .rss,
      rss(#"<media:content url="https://x.example/v" medium="video" type="image/gif"/>"#),
      []
    ),
    Trap(
      "a counting pixel, inline data and a mail part",
      .rss,
      rss(
        """
        <description><![CDATA[<img src="https://x.example/t" width="1" height="1"><img src="data:image/gif;base64,R0">
        <img src="cid:1"><img src=""><img alt="x">]]></description>
        """
      ),
      []
    ),
    Trap(
      "RSS 1.0",
      .rss,
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>
      <item rdf:about="1"><description>&lt;img src="https://x.example/a"&gt;</description></item></rdf:RDF>
      """,
      ["a > -"]
    ),
    Trap(
      "HTML that nobody escaped, and entities of HTML",
      .rss,
      rss("<description>caf&eacute;&nbsp;<p><img src=\"https://x.example/a?b&amp;c\"/></p></description>"),
      ["a?b&c > -"]
    ),
    Trap(
      "a bad entry among good ones",
      .rss,
      rss(
        """
        <enclosure url="https://x.example/a" type="image/png"/></item><item><guid>bad</guid>
        <enclosure url="ftp://x.example/b" type="image/png"/></item><item><enclosure url="https://x.example/c" type="image/png"/>
        """
      ),
      ["a > -", "c > -"],
      warnings: ["entry 2 (`bad`): `enclosure url`"]
    ),
    Trap(
      "a long password",
      .rss,
      rss(#"<enclosure url="ftp://ann:\#(longFolder.dropLast())@x.example/b" type="image/png"/>"#),
      [],
      warnings: ["but `ftp://x.example/b` has the scheme `ftp`"]
    ),
    Trap("an empty channel", .rss, "\n <?xml version=\"1.0\"?><rss><channel/></rss>\n", []),
    Trap(
      "the old document type",
      .rss,
      """
      <!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
      \(rss(#"<enclosure url="https://x.example/a" type="image/png"/>"#))
      """,
      ["a > -"]
    ),
  ]

  @Test(arguments: rssTraps) func `RSS and Media RSS`(trap: Trap) throws { try trap.check() }

  private static func atom(_ entry: String) -> String {
    """
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xml:base="https://x.example/f/">
    <logo>https://x.example/logo</logo><entry><id>1</id>\(entry)</entry></feed>
    """
  }

  static let atomTraps = [
    Trap(
      "a player is no picture",
      .atom,
      atom(
        """
        <media:group><media:title>T</media:title>
        <media:content url="https://x.example/v/1" type="application/x-shockwave-flash" width="640" height="390"/>
        <media:thumbnail url="https://x.example/hq.jpg" width="480" height="360"/></media:group>
        """
      ),
      ["poster: - > hq.jpg"]
    ),
    Trap(
      "enclosures of images",
      .atom,
      atom(
        """
        <link rel="enclosure" type="image/png" href="a" length="12"/><link rel="enclosure" type="audio/ogg" href="b"/>
        <link rel="alternate" type="image/png" href="c"/>
        """
      ),
      ["f/a > -"]
    ),
    Trap(
      "HTML and XHTML, not text",
      .atom,
      atom(
        """
        <summary type="text">&lt;img src="no"&gt;</summary><content type="xhtml" xml:base="g/"><div
         xmlns="http://www.w3.org/1999/xhtml"><img src="a" srcset="b 900w, c 400w"/></div></content>
        """
      ),
      ["f/g/b > f/g/c"]
    ),
    Trap("a summary in HTML", .atom, atom("<summary type=\"html\">&lt;img src=/a&gt;</summary>"), ["a > -"]),
    Trap(
      "an entry as root",
      .atom,
      "<entry><link rel=\"enclosure\" type=\"image/png\" href=\"https://x.example/a\"/></entry>",
      ["a > -"]
    ),
  ]

  @Test(arguments: atomTraps) func `Atom`(trap: Trap) throws { try trap.check() }

  static let htmlTraps = [
    Trap(
      "the widest candidate, and the smallest of at least 320 pixels",
      .html,
      #"<img src="s.jpg" srcset="a.jpg 240w, b.jpg 480w, c.jpg 1200w">"#,
      ["c.jpg > b.jpg"],
      base: "https://x.example/"
    ),
    Trap(
      "densities are no sizes",
      .html,
      #"<img src="https://x.example/a" srcset="https://x.example/b 2x">"#,
      ["a > -"]
    ),
    Trap(
      "a density without src",
      .html,
      #"<img srcset="https://x.example/a, https://x.example/b 2x">"#,
      ["b > -"]
    ),
    Trap(
      "art direction is another crop",
      .html,
      """
      <picture><source media="(min-width: 40em)" srcset="https://x.example/wide 2000w">
      <source type="image/webp" srcset="https://x.example/a.webp 800w, https://x.example/b.webp 400w">
      <img src="https://x.example/a.jpg"></picture><img src="https://x.example/c">
      """,
      ["a.webp > b.webp", "c > -"]
    ),
    Trap(
      "the base of the page, the first one",
      .html,
      "<base href=\"/g/\"><base href=\"/h/\"><img src=a><IMG SRC='//y.example/b'>",
      ["g/a > -", "https://y.example/b > -"],
      base: "https://x.example/f/"
    ),
    Trap(
      "a base that is too long",
      .html,
      "<base href=\"https://x.example/\(longFolder)\(longFolder)\"><img src=a>",
      ["a > -"],
      base: "https://x.example/"
    ),
    Trap(
      "the picture of the page and its size, before those of the body",
      .html,
      """
      <html><head><meta property="og:image" content="https://x.example/o"><meta property="og:image:width" content="900">
      <meta property="og:image:url" content="https://x.example/o"><meta name="og:image" content="/q"></head>
      <body><img src="https://x.example/p"><img src="https://x.example/o"></body></html>
      """,
      ["o > -", "q > -", "p > -"],
      base: "https://x.example/"
    ),
    Trap(
      "a video and a lazy picture",
      .html,
      """
      <video poster="https://x.example/v"><source src="https://x.example/v.mp4"></video>
      <img src="data:image/gif;base64,R0"><noscript><img src="https://x.example/n"></noscript>
      <script>document.write('<img src="https://x.example/s">')</script><!-- <img src="https://x.example/c"> -->
      """,
      ["poster: - > v", "n > -"]
    ),
    Trap(
      "broken HTML",
      .html,
      "<p<b><img src=https://x.example/a <i></p></x><img src=\"https://x.example/b",
      ["a > -"]
    ),
    Trap("no picture", .html, "<html><p>text", []),
    Trap("relative without a base", .html, "<img src=a>", [], warnings: ["`img[1] src`"]),
  ]

  @Test(arguments: htmlTraps) func `HTML`(trap: Trap) throws { try trap.check() }

  @Test func `sizes, lengths and texts of Media RSS and Open Graph reach the item`() throws {
    let text = Self.rss(
      """
      <link>https://x.example/page</link><media:content url="https://x.example/a" type="image/png" width="900" height="600"
       fileSize="1234"><media:description> A cat </media:description></media:content>
      """
    )
    let item = try #require(try FeedReader().read(Array(text.utf8)).items.first)
    #expect(item.original?.width == 900 && item.original?.height == 600)
    #expect(item.original?.size == ByteCount(1234) && item.original?.mediaType == "image/png")
    #expect(item.alternativeText == "A cat" && item.page == "https://x.example/page" && item.id == "g")
    let page =
      #"<meta property="og:image" content="https://x.example/o"><meta property="og:image:height" content="9">"#
    #expect(try FeedReader(format: .html).read(Array(page.utf8)).items.first?.original?.height == 9)
  }
}

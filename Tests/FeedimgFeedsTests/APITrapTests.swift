import FeedimgFeeds
import FeedimgModel
import Testing

/// What the JSON formats say in surprising ways.
@Suite struct APITrapTests {
  private static func status(_ attachments: String, _ more: String = "") -> String {
    #"{"id":"1",\#(more)"media_attachments":[\#(attachments)]}"#
  }

  private static func media(_ type: String, _ url: String, _ preview: String, _ more: String = "") -> String {
    func value(_ name: String) -> String { name == "-" ? "null" : "\"https://x.example/\(name)\"" }
    return #"{"id":"7","type":"\#(type)","url":\#(value(url)),"preview_url":\#(value(preview))\#(more)}"#
  }

  static let mastodon = [
    Trap("a processing picture has no URL", .mastodon, status(media("image", "-", "p")), ["- > p"]),
    Trap("nothing is known yet", .mastodon, status(media("image", "-", "-")), []),
    Trap("a preview may be as large as the original", .mastodon, status(media("image", "o", "p")), ["o > p"]),
    Trap("equal URLs are no thumbnail", .pleroma, status(media("image", "o", "o")), ["o > -"]),
    Trap("equal URLs of a video are no picture", .pleroma, status(media("video", "v.mp4", "v.mp4")), []),
    Trap("a video is a poster", .mastodon, status(media("video", "v.mp4", "p")), ["poster: - > p"]),
    Trap("audio without a cover", .mastodon, status(media("audio", "a.ogg", "-")), []),
    Trap("another type is not an image", .mastodon, status(media("unknown", "o", "p")), ["- > p"]),
    Trap(
      "a status without media",
      .mastodon,
      "[\(status("")), \(status(media("image", "o", "p")))]",
      ["o > p"]
    ),
    Trap(
      "the true URL of a proxied picture is not used",
      .mastodon,
      status(media("image", "media_proxy/o", "p", #","remote_url":"https://y.example/o""#)),
      ["media_proxy/o > p"]
    ),
    Trap(
      "a boost stands for its post",
      .mastodon,
      status("", #""reblog":\#(status(media("image", "o", "p"))),"#),
      ["o > p"]
    ),
    Trap(
      "a quoted post is another post",
      .mastodon,
      status(
        media("image", "o", "p"),
        #""quote":{"quoted_status":\#(status(media("image", "q", "r")))},"card":{"image":"https://x.example/c"},"#
      ),
      ["o > p"]
    ),
    Trap(
      "an account is an avatar",
      .mastodon,
      #"[{"id":"1","acct":"a@b","avatar":"https://x.example/a","avatar_static":"https://x.example/s"}]"#,
      ["avatar: - > a"]
    ),
    Trap(
      "an emoji",
      .mastodon,
      #"[{"shortcode":"blob","url":"https://x.example/e","static_url":""}]"#,
      ["emoji: - > e"]
    ),
    Trap(
      "a search and its lists",
      .mastodon,
      #"{"accounts":[],"statuses":[\#(status(media("image", "o", "p")))],"hashtags":[]}"#,
      ["o > p"]
    ),
    Trap(
      "notifications, some without a status",
      .mastodon,
      #"[{"id":"1","type":"follow","account":{}},{"account":{},"status":\#(status(media("image", "o", "p")))}]"#,
      ["o > p"]
    ),
    Trap(
      "Pixelfed has a size between",
      .pixelfed,
      status(
        media("image", "o", "p", #","meta":null,"optimized_url":"https://x.example/m","mime":"image/png""#)
      ),
      ["o > p"]
    ),
  ]

  @Test(arguments: mastodon) func `the Mastodon API`(trap: Trap) throws { try trap.check() }

  @Test func `Pixelfed's constant BlurHash is none, and a background colour needs the form of items`() throws
  {
    func item(_ more: String) throws -> FeedItem {
      let text = Self.status(Self.media("image", "o", "p", more))
      return try #require(try FeedReader(format: .pixelfed).read(Array(text.utf8)).items.first)
    }
    let constant = "U4Rfzst8?bt7ogayj[j[~pfQ9Goe%Mj[WBay"
    #expect(try item(#","blurhash":"\#(constant)""#).placeholder.isEmpty)
    #expect(try item(#","blurhash":"LEHV6n""#).placeholder.blurHash == "LEHV6n")
    #expect(try item(##","meta":{"colors":{"background":"#0a0B0c"}}"##).placeholder.color == "#0a0B0c")
    #expect(try item(##","meta":{"colors":{"background":"#fff"}}"##).placeholder.isEmpty)
  }

  static let bluesky = [
    Trap(
      "an aspect ratio is no size",
      .bluesky,
      """
      {"feed":[{"post":{"uri":"at://1","embed":{"images":[{"fullsize":"https://x.example/f",
       "thumb":"https://x.example/t","alt":"","aspectRatio":{"width":4,"height":3}}]}}}]}
      """,
      ["f > t"]
    ),
    Trap(
      "a gallery names its thumbnails in another way",
      .bluesky,
      """
      {"posts":[{"uri":"at://1","embed":{"$type":"app.bsky.embed.gallery#view","media":[
       {"fullsize":"https://x.example/f","thumbnail":"https://x.example/t","alt":"a"},
       {"fullsize":"https://x.example/g","thumbnail":"https://x.example/u","alt":"b"}]}}]}
      """,
      ["f > t", "g > u"]
    ),
    Trap(
      "a gallery beside a quoted post",
      .bluesky,
      """
      {"uri":"at://1","embed":{"media":{"media":[{"fullsize":"https://x.example/f"}]},
       "record":{"record":{"embeds":[{"images":[{"fullsize":"https://x.example/q"}]}]}}}}
      """,
      ["f > -"]
    ),
    Trap(
      "a link has no original",
      .bluesky,
      #"{"uri":"at://1","embed":{"external":{"uri":"https://y.example","thumb":"https://x.example/t"}}}"#,
      ["- > t"]
    ),
    Trap(
      "a video is a poster",
      .bluesky,
      #"{"uri":"at://1","embed":{"playlist":"https://x.example/p.m3u8","thumbnail":"https://x.example/t"}}"#,
      ["poster: - > t"]
    ),
    Trap(
      "blobs of a record have no URL",
      .bluesky,
      #"{"uri":"at://1","record":{"embed":{"images":[{"image":{"ref":{"$link":"b"}}}]}}}"#,
      []
    ),
    Trap(
      "a thread with a missing reply",
      .bluesky,
      """
      {"thread":{"post":{"uri":"at://1","embed":{"images":[{"fullsize":"https://x.example/f"}]}},
       "replies":[{"notFound":true},{"post":{"uri":"at://2","embed":{"images":[{"fullsize":"https://x.example/g"}]}}}]}}
      """,
      ["f > -", "g > -"]
    ),
    Trap(
      "profiles are avatars",
      .bluesky,
      #"{"profiles":[{"did":"d","handle":"h","avatar":"https://x.example/a"},{"did":"e","handle":"i"}]}"#,
      ["avatar: - > a"]
    ),
  ]

  @Test(arguments: bluesky) func `the Bluesky API`(trap: Trap) throws { try trap.check() }

  private static func post(_ post: String, _ details: String = "") -> String {
    #"{"posts":[{"post":{"id":1,"ap_id":"https://y.example/1",\#(post)},"creator":{"avatar":"https://x.example/a"}\#(details)}]}"#
  }

  static let lemmy = [
    Trap(
      "an image",
      .lemmy,
      post(
        #""url":"https://x.example/o","url_content_type":"image/png","thumbnail_url":"https://x.example/t""#
      ),
      ["o > t"]
    ),
    Trap(
      "a link has a thumbnail and no original",
      .lemmy,
      post(
        #""url":"https://x.example/o","url_content_type":"text/html","thumbnail_url":"https://x.example/t""#
      ),
      ["- > t"]
    ),
    Trap(
      "a video is a poster",
      .lemmy,
      post(
        #""url":"https://x.example/o","url_content_type":"video/mp4","thumbnail_url":"https://x.example/t""#
      ),
      ["poster: - > t"]
    ),
    Trap("a text", .lemmy, post(#""name":"title""#), []),
    Trap(
      "the thumbnail is the image",
      .lemmy,
      post(
        #""url":"https://x.example/o","url_content_type":"image/png","thumbnail_url":"https://x.example/o""#
      ),
      ["o > -"]
    ),
  ]

  @Test(arguments: lemmy) func `the Lemmy API`(trap: Trap) throws { try trap.check() }

  @Test func `Lemmy's image details are those of the thumbnail`() throws {
    let text = Self.post(
      #""url":"https://x.example/o","url_content_type":"image/png","thumbnail_url":"https://x.example/t""#,
      #","image_details":{"link":"https://x.example/t","width":400,"height":300,"blurhash":"L1"}"#
    )
    let item = try #require(try FeedReader(format: .lemmy).read(Array(text.utf8)).items.first)
    #expect(item.original?.width == nil)
    #expect(item.thumbnail?.width == 400 && item.thumbnail?.height == 300)
    #expect(item.placeholder.blurHash == "L1")
  }

  private static func listing(_ post: String) -> String {
    #"{"kind":"Listing","data":{"children":[{"kind":"t3","data":{"id":"1","title":"t",\#(post)}}]}}"#
  }

  private static let preview = """
    "preview":{"images":[{"source":{"url":"https://x.example/s?a=1&amp;b=2","width":4000,"height":3000},
     "resolutions":[{"url":"https://x.example/p?w=108&amp;s=1","width":108,"height":81},
      {"url":"https://x.example/p?w=320&amp;s=2","width":320,"height":240},
      {"url":"https://x.example/p?w=640&amp;s=3","width":640,"height":480}]}]}
    """

  static let reddit = [
    Trap(
      "the smallest of at least 320 pixels, and no `&amp;`",
      .reddit,
      listing(#""url":"https://i.redd.it/a.jpg",\#(preview)"#),
      ["https://i.redd.it/a.jpg > p?w=320&s=2"]
    ),
    Trap(
      "the source of a preview is no original",
      .reddit,
      listing(#""url":"https://y.example/",\#(preview)"#),
      ["- > p?w=320&s=2"]
    ),
    Trap(
      "a hosted video is a poster",
      .reddit,
      listing(#""url":"https://v.redd.it/a","is_video":true,\#(preview)"#),
      ["poster: - > p?w=320&s=2"]
    ),
    Trap("a word is no thumbnail", .reddit, listing(#""url":"https://y.example/","thumbnail":"nsfw""#), []),
    Trap(
      "a thumbnail without a preview",
      .reddit,
      listing(#""url":"https://y.example/","thumbnail":"https://x.example/t","thumbnail_width":140"#),
      ["- > t"]
    ),
    Trap(
      "the order is that of the gallery, without unprocessed media",
      .reddit,
      listing(
        """
        "url":"https://www.reddit.com/gallery/1","gallery_data":{"items":[{"media_id":"b"},{"media_id":"c"},
         {"media_id":"a","caption":"A"},{"media_id":"d"}]},
        "media_metadata":{
         "a":{"status":"valid","s":{"u":"https://x.example/a?x=1&amp;y=2","x":900,"y":600},
          "p":[{"u":"https://x.example/a?w=108","x":108,"y":72}]},
         "b":{"status":"valid","e":"AnimatedImage","s":{"gif":"https://x.example/b.gif","mp4":"https://x.example/b.mp4"}},
         "c":{"status":"unprocessed"}}
        """
      ),
      ["b.gif > -", "a?x=1&y=2 > a?w=108"]
    ),
    Trap("a deleted gallery", .reddit, listing(#""url":"https://y.example/","gallery_data":null"#), []),
    Trap(
      "a crosspost stands for its post",
      .reddit,
      listing(#""url":"/r/x","crosspost_parent_list":[{"url":"https://i.redd.it/a.jpg",\#(preview)}]"#),
      ["https://i.redd.it/a.jpg > p?w=320&s=2"]
    ),
    Trap(
      "comments follow the listing of their post",
      .reddit,
      #"[\#(listing(#""url":"https://i.redd.it/a.jpg""#)),{"kind":"Listing","data":{"children":[{"kind":"t1","data":{"body":"b"}}]}}]"#,
      ["https://i.redd.it/a.jpg > -"]
    ),
  ]

  @Test(arguments: reddit) func `the Reddit API`(trap: Trap) throws { try trap.check() }

  private static func feed(_ items: String, _ more: String = "") -> String {
    #"{"version":"https://jsonfeed.org/version/1.1",\#(more)"items":[\#(items)]}"#
  }

  private static let longName = String(repeating: "a", count: 1024)

  static let jsonFeed = [
    Trap(
      "a banner is another picture",
      .jsonFeed,
      feed(##"{"id":1,"image":"https://x.example/o","banner_image":"https://x.example/b"}"##),
      ["o > -"]
    ),
    Trap(
      "image attachments, not others",
      .jsonFeed,
      feed(
        """
        {"id":"1","image":"https://x.example/o","attachments":[
         {"url":"https://x.example/a","mime_type":"audio/mpeg"},
         {"url":"https://x.example/o","mime_type":"image/png","size_in_bytes":7},
         {"url":"https://x.example/p","mime_type":"image/png","size_in_bytes":9}]}
        """
      ),
      ["o > -", "p > -"]
    ),
    Trap("blank and null", .jsonFeed, feed(#"{"id":"1","image":"  "},{"id":"2","image":null}"#), []),
    Trap(
      "relative to the feed",
      .jsonFeed,
      feed(#"{"id":"1","image":" ../o "}"#, #""feed_url":"https://x.example/a/f","#),
      ["o > -"]
    ),
    Trap(
      "an address of the feed that is too long for a base",
      .jsonFeed,
      feed(
        #"{"id":"1","image":"o"}"#,
        #""feed_url":"https://y.example/\#(longName)","home_page_url":"https://x.example","#
      ),
      ["o > -"]
    ),
    Trap(
      "relative to the given address",
      .jsonFeed,
      feed(#"{"id":"1","image":"o"}"#, #""feed_url":"https://y.example/f","#),
      ["o > -"],
      base: "https://x.example/f"
    ),
    Trap(
      "relative without a base",
      .jsonFeed,
      feed(#"{"id":"7","image":"o"},{"id":"8","image":"https://x.example/o"}"#),
      ["o > -"],
      warnings: ["entry 1 (`7`): `image`: expected an http or https URL, but `o` is relative"]
    ),
  ]

  @Test(arguments: jsonFeed) func `JSON Feed`(trap: Trap) throws { try trap.check() }

  @Test func `the length of an attachment is the size of its picture`() throws {
    let text = Self.feed(
      #"{"id":1,"attachments":[{"url":"https://x.example/p","mime_type":"image/png","size_in_bytes":9}]}"#
    )
    let document = try FeedReader().read(Array(text.utf8))
    #expect(document.format == .jsonFeed)
    #expect(document.items.first?.original?.size == ByteCount(9))
    #expect(document.items.first?.id == "1")
  }

  static let bad = [
    Trap(
      "entries of another type",
      .mastodon,
      #"[\#(status(media("image", "o", "p"))),17,null,{"id":"4"},\#(status(media("image", "q", "r")))]"#,
      ["o > p", "q > r"],
      warnings: ["entry 2: expected an object, found a number", "entry 3", "entry 4 (`4`)"]
    ),
    Trap(
      "attachments of another type",
      .mastodon,
      status(#"5,null,{"type":"image","url":7},\#(media("image", "o", "p"))"#),
      ["o > p"],
      warnings: [
        "`media_attachments[0]`: expected an object", "`media_attachments[2].url`: expected a string",
      ]
    ),
    Trap(
      "a URL of another scheme",
      .bluesky,
      #"{"uri":"u","embed":{"images":[{"fullsize":"file:///etc/passwd","thumb":"https://x.example/t"}]}}"#,
      ["- > t"],
      warnings: ["entry 1: `embed.images[0].fullsize`: expected an http or https URL"]
    ),
    Trap(
      "a gallery of another type",
      .reddit,
      listing(#""gallery_data":{"items":5},"media_metadata":{}"#),
      [],
      warnings: ["`gallery_data.items`: expected an array, found a number"]
    ),
    Trap(
      "an error in place of a feed",
      .mastodon,
      #"{"error":"Record not found"}"#,
      [],
      warnings: ["entry 1"]
    ),
  ]

  @Test(arguments: bad) func `a bad entry spoils no feed, and the warning names it`(trap: Trap) throws {
    try trap.check()
    let strict = FeedReader(format: trap.format, isStrict: true)
    let error = #expect(throws: FeedError.self) { try strict.read(Array(trap.document.utf8)) }
    #expect(error?.code == .invalidEntry)
    #expect(error?.message.contains(trap.warnings[0]) == true)
  }
}

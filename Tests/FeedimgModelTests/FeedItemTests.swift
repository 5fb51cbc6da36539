import FeedimgModel
import Testing

struct FeedItemTests {
  private func item(_ json: String) throws -> FeedItem {
    let items = try FeedItem.items(json: Array(json.utf8))
    return try #require(items.count == 1 ? items.first : nil)
  }

  // MARK: Sizes

  struct Sizing: CustomTestStringConvertible {
    var view: DisplaySize
    var cached: Set<Int> = []
    /// The widths of the chosen variants.
    var original: Int?
    var thumbnail: Int?
    var testDescription: String
  }

  static let sizings: [Sizing] = [
    Sizing(
      view: DisplaySize(width: 400, height: 400, scale: 2),
      original: 800,
      thumbnail: 320,
      testDescription: "the smallest that is not enlarged"
    ),
    Sizing(
      view: DisplaySize(width: 900, height: 900),
      original: 1600,
      thumbnail: 320,
      testDescription: "the next larger"
    ),
    Sizing(
      view: DisplaySize(width: 3000, height: 3000),
      original: 1600,
      thumbnail: 320,
      testDescription: "the largest, if all are enlarged"
    ),
    Sizing(
      view: DisplaySize(width: 300, height: 300),
      original: nil,
      thumbnail: 320,
      testDescription: "a thumbnail that is large enough replaces the original"
    ),
    Sizing(
      view: DisplaySize(width: 100, height: 100),
      original: nil,
      thumbnail: 160,
      testDescription: "sizes below the thumbnail"
    ),
    Sizing(
      view: DisplaySize(width: 400, height: 400, scale: 2),
      cached: [1600],
      original: 1600,
      thumbnail: 320,
      testDescription: "a cached larger one needs no request"
    ),
    Sizing(
      view: DisplaySize(width: 300, height: 300),
      cached: [1600],
      original: 1600,
      thumbnail: 320,
      testDescription: "a cached original stays before a thumbnail that is not cached"
    ),
  ]

  @Test(arguments: sizings)
  func `the size of the view chooses the smallest version that it does not enlarge`(_ row: Sizing) throws {
    let variants = [1600, 160, 800, 320].map { #"{"url": "https://x.example/\#($0)", "width": \#($0)}"# }
    let item = try item(#"{"variants": [\#(variants.joined(separator: ","))]}"#)
    #expect(item.original?.width == 1600 && item.thumbnail?.width == 320, "without a size")
    let sized = item.sized(for: row.view) { url in
      row.cached.contains { url.text == "https://x.example/\($0)" }
    }
    #expect(sized.original?.width == row.original && sized.thumbnail?.width == row.thumbnail)
  }

  @Test func `a view with a width alone chooses by the width`() throws {
    let variants = [1600, 160, 800, 320].map {
      #"{"url": "https://x.example/\#($0)", "width": \#($0), "height": \#($0 * 2)}"#
    }
    let item = try item(#"{"variants": [\#(variants.joined(separator: ","))]}"#)
    let view = try #require(DisplaySize(maximumWidth: 700, maximumHeight: 0))
    #expect(item.sized(for: view) { _ in false }.original?.width == 800)
  }

  @Test func `without widths the size of the view changes nothing`() throws {
    let item = try item(
      #"{"originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/s.jpg"}"#
    )
    #expect(item.sized(for: DisplaySize(width: 10, height: 10)) { _ in false } == item)
  }

  @Test func `a thumbnail of another shape does not replace the original`() throws {
    var item = try item(
      #"{"originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/s.jpg"}"#
    )
    item.original?.width = 1600
    item.original?.height = 800
    item.thumbnail?.width = 400
    item.thumbnail?.height = 400
    let view = DisplaySize(width: 200, height: 200)
    #expect(item.sized(for: view) { _ in false }.original != nil)
    item.thumbnail?.height = 200
    #expect(item.sized(for: view) { _ in false }.original == nil)
  }

  // MARK: The short form

  @Test func `the short form has two URLs`() throws {
    let item = try item(
      #"{"originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/s.jpg"}"#
    )
    #expect(item.original?.url.text == "https://x.example/a.jpg")
    #expect(item[.thumbnail]?.url.text == "https://x.example/s.jpg")
    #expect(item.original?.role == .original)
    #expect(item.thumbnail?.role == .thumbnail)
    #expect(item.placeholder.isEmpty)
  }

  @Test func `either URL may be missing or null`() throws {
    let original = try item(#"{"originalImage": "https://x.example/a.jpg", "thumbnailImage": null}"#)
    #expect(original.original != nil && original.thumbnail == nil)
    let thumbnail = try item(#"{"thumbnailImage": "https://x.example/s.jpg"}"#)
    #expect(thumbnail.original == nil && thumbnail.thumbnail != nil)
  }

  @Test func `one URL for both is an original without thumbnail`() throws {
    let item = try item(
      #"{"originalImage": "https://X.example/a.jpg", "thumbnailImage": "https://x.example:443/a.jpg#s"}"#
    )
    #expect(item.original != nil && item.thumbnail == nil)
  }

  // MARK: The full form

  @Test func `the full form has sizes, types and a placeholder`() throws {
    let item = try item(
      """
      {"id": "22345792", "alt": "A harbour", "page": "https://x.example/post/1", "unknown": [1],
       "variants": [
         {"role": "original",  "url": "https://x.example/a.jpg", "width": 1280, "height": 960, "bytes": 412345,
          "type": "image/jpeg"},
         {"role": "thumbnail", "url": "https://x.example/a-small.jpg", "width": 461, "height": 346}],
       "placeholder": {"blurhash": "UFBWY:8_0Jxv4mx]t8t64.%M-:IUWGWAt6M}", "color": "#336699"}}
      """
    )
    #expect(item.id == "22345792")
    #expect(item.alternativeText == "A harbour")
    #expect(item.page == "https://x.example/post/1")
    #expect(item.original?.width == 1280 && item.original?.height == 960)
    #expect(item.original?.size == ByteCount(412_345))
    #expect(item.original?.mediaType == "image/jpeg")
    #expect(item.thumbnail?.width == 461 && item.thumbnail?.size == nil)
    #expect(item.placeholder.blurHash == "UFBWY:8_0Jxv4mx]t8t64.%M-:IUWGWAt6M}")
    #expect(item.placeholder.color == "#336699")
    #expect(!item.placeholder.isEmpty)
  }

  @Test func `an id may be a number and is kept as written`() throws {
    #expect(try item(#"{"id": 110, "originalImage": "http://x.example/"}"#).id == "110")
    #expect(
      try item(#"{"id": 18446744073709551616, "originalImage": "http://x.example/"}"#).id
        == "18446744073709551616"
    )
  }

  struct Choice: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// The role and the width of each variant, both optional.
    ///
    /// The URL of a variant is its number.
    var variants: [(role: String?, width: Int?)]
    /// The numbers of the chosen variants.
    var original: Int?
    var thumbnail: Int?
  }

  static let choices = [
    Choice(testDescription: "one alone is the original", variants: [(nil, 300)], original: 0, thumbnail: nil),
    Choice(
      testDescription: "without roles the widest is the original, the smallest from 320 the thumbnail",
      variants: [(nil, 640), (nil, 100), (nil, 2000), (nil, 320), (nil, 319)],
      original: 2,
      thumbnail: 3
    ),
    Choice(
      testDescription: "if none reaches 320, the widest remaining one is the thumbnail",
      variants: [(nil, 100), (nil, 300), (nil, 200)],
      original: 1,
      thumbnail: 2
    ),
    Choice(
      testDescription: "roles take precedence over widths",
      variants: [("thumbnail", 900), ("original", 800)],
      original: 1,
      thumbnail: 0
    ),
    Choice(
      testDescription: "with an original, those without a role are thumbnails",
      variants: [("original", 800), (nil, 2000), (nil, 400)],
      original: 0,
      thumbnail: 2
    ),
    Choice(
      testDescription: "thumbnails alone give no original",
      variants: [("thumbnail", nil), ("thumbnail", 400)],
      original: nil,
      thumbnail: 1
    ),
    Choice(
      testDescription: "of equal widths the first",
      variants: [(nil, 800), (nil, 800), (nil, 400), (nil, 400)],
      original: 0,
      thumbnail: 2
    ),
  ]

  @Test(arguments: choices)
  func `two of many variants are chosen`(_ choice: Choice) throws {
    let listed = choice.variants.enumerated().map { number, variant in
      var members = [#""url": "http://x.example/\#(number)""#]
      if let role = variant.role { members.append(#""role": "\#(role)""#) }
      if let width = variant.width { members.append(#""width": \#(width)"#) }
      return "{\(members.joined(separator: ", "))}"
    }
    let item = try item(#"{"variants": [\#(listed.joined(separator: ", "))]}"#)
    #expect(item.original?.url.text == choice.original.map { "http://x.example/\($0)" })
    #expect(item.thumbnail?.url.text == choice.thumbnail.map { "http://x.example/\($0)" })
    #expect(item.original.map { $0.role == .original } ?? true)
    #expect(item.thumbnail.map { $0.role == .thumbnail } ?? true)
  }

  @Test func `an item with several sizes of the original can be written and read again`() throws {
    let variants = [100, 400, 800, 1600]
      .map { #"{"url": "http://x.example/\#($0)", "width": \#($0)}"# }
      .joined(separator: ",")
    let item = try item("{\"variants\": [\(variants)]}")
    #expect(item.sizes.map(\.role) == [.thumbnail, .original])
    #expect(try self.item(item.json) == item)
  }

  @Test func `both forms together are accepted if they agree`() throws {
    let rich = #""variants": [{"role": "original", "url": "http://x.example/a", "width": 9}]"#
    let item = try item(#"{\#(rich), "originalImage": "http://X.example:80/a"}"#)
    #expect(item.original?.width == 9)
    #expect(throws: FeedItemError.self) {
      try self.item(#"{\#(rich), "thumbnailImage": "http://x.example/s"}"#)
    }
  }

  @Test func `a short form that contradicts the variants is refused`() throws {
    let original = #"{"role": "original", "url": "http://x.example/a"}"#
    let both = #""variants": [\#(original), {"role": "thumbnail", "url": "http://x.example/s"}]"#
    let error = #expect(throws: FeedItemError.self) {
      try self.item(
        #"{\#(both), "originalImage": "http://x.example/a", "thumbnailImage": "http://x.example/a"}"#
      )
    }
    #expect(
      error?.description
        == "`thumbnailImage`: expected the same URL as in `variants`, `http://x.example/s`"
    )
    let alone = try item(#"{"variants": [\#(original)], "thumbnailImage": "http://x.example/a"}"#)
    #expect(alone.original != nil && alone.thumbnail == nil)
  }

  @Test func `an empty list of variants counts as absent`() throws {
    let item = try item(#"{"variants": [], "originalImage": "http://x.example/a"}"#)
    #expect(item.original?.url.text == "http://x.example/a")
  }

  // MARK: Documents

  @Test func `a document holds one item, an array, or one after another`() throws {
    let one = #"{"originalImage": "http://x.example/1"}"#
    let two = #"{"originalImage": "http://x.example/2"}"#
    for document in ["[\(one), \(two)]", "\(one)\n\(two)\n", "\(one)\(two)", " [\(one),\(two)]\n"] {
      let items = try FeedItem.items(json: Array(document.utf8))
      #expect(items.map(\.original?.url.text) == ["http://x.example/1", "http://x.example/2"], "\(document)")
    }
  }

  static let faults: [(json: String, message: String)] = [
    ("", "expected an item, found none"),
    ("[]", "expected an item, found none"),
    ("{", "line 1, column 2: not JSON: expected a member name in quotes, but the text ends here"),
    ("\n{\"a\" 1}", "line 2, column 6: not JSON: expected `:` after the name, found `1`"),
    ("7", "expected an object, found a number"),
    (
      "[{}, {}]",
      "item 1: an item needs `originalImage`, `thumbnailImage` or `variants`, but has none of them"
    ),
    ("{}", "an item needs `originalImage`, `thumbnailImage` or `variants`, but has none of them"),
    (
      #"{"variants": []}"#,
      "an item needs `originalImage`, `thumbnailImage` or `variants`, but has none of them"
    ),
    (#"{"originalImage": 1}"#, "`originalImage`: expected a string, found a number"),
    (
      #"{"originalImage": "http://x.example/a", "id": []}"#,
      "`id`: expected a string or a number, found an array"
    ),
    (
      #"{"originalImage": "a.jpg"}"#,
      "`originalImage`: expected an absolute http or https URL, but `a.jpg` is relative"
    ),
    (
      #"{"thumbnailImage": "data:image/png;base64,AA"}"#,
      "`thumbnailImage`: expected an absolute http or https URL, but `data:image/png;base64,AA` has the scheme `data`"
    ),
    (#"{"variants": {}}"#, "`variants`: expected an array, found an object"),
    (
      #"{"variants": [{"url": "http://x.example/", "role": "original"}, {"url": "http://y.example/", "role": "original"}]}"#,
      "`variants[1].role`: expected one original without a `width`, found a second"
    ),
    (#"{"variants": [1]}"#, "`variants[0]`: expected an object, found a number"),
    (#"{"variants": [{}]}"#, "`variants[0].url`: expected an absolute http or https URL, found none"),
    (
      #"{"variants": [{"url": "http://x.example/"}]}"#,
      "`variants[0]`: expected a `role` (original or thumbnail) or a `width`"
    ),
    (
      #"{"variants": [{"url": "http://x.example/", "role": "large"}]}"#,
      "`variants[0].role`: expected `original` or `thumbnail`, found `large`"
    ),
    (
      #"{"variants": [{"url": "http://x.example/", "width": -1}]}"#,
      "`variants[0].width`: expected a whole number, at least 0, found -1"
    ),
    (
      #"{"variants": [{"url": "http://x.example/", "role": "original", "bytes": 1.5}]}"#,
      "`variants[0].bytes`: expected a whole number, at least 0, found a number"
    ),
    (
      #"{"originalImage": "http://x.example/a", "variants": [{"url": "http://x.example/b", "width": 1}]}"#,
      "`originalImage`: expected the same URL as in `variants`, `http://x.example/b`"
    ),
    (
      #"{"originalImage": "http://x.example/a", "placeholder": {"color": "red"}}"#,
      "`placeholder.color`: expected a colour such as `#336699`, found `red`"
    ),
    (
      #"{"originalImage": "http://x.example/a", "placeholder": "blur"}"#,
      "`placeholder`: expected an object, found a string"
    ),
    (
      #"[{"originalImage": "http://x.example/a"}, {"originalImage": "b"}]"#,
      "item 2, `originalImage`: expected an absolute http or https URL, but `b` is relative"
    ),
  ]

  @Test(arguments: faults)
  func `an error is reported with its place`(_ json: String, _ message: String) {
    let error = #expect(throws: FeedItemError.self) { try FeedItem.items(json: Array(json.utf8)) }
    #expect(error?.description == message)
  }

  @Test func `a very long URL is shortened in the message`() {
    let json = #"{"originalImage": "\#(String(repeating: "a", count: 9000))"}"#
    let error = #expect(throws: FeedItemError.self) { try FeedItem.items(json: Array(json.utf8)) }
    #expect((error?.description.count ?? 0) < 250)
    #expect(error?.description.hasSuffix("is 9000 bytes long, over the limit of 8192") == true)
  }
}

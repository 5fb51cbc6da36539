import FeedimgModel
import Testing

/// Reads a document piece by piece, which must give the same result as reading it whole.
@Suite struct FeedItemReaderTests {
  /// The items of a document that arrives in pieces of one length.
  static func read(_ document: [UInt8], pieces length: Int = .max) throws(FeedItemError) -> [FeedItem] {
    var reader = FeedItemReader()
    var items: [FeedItem] = []
    var rest = document[...]
    repeat {
      let piece = rest.prefix(length)
      rest = rest.dropFirst(length)
      items += try reader.read(piece, isLast: rest.isEmpty)
    } while !rest.isEmpty
    return items
  }

  static let plain =
    #"{"id": "7", "originalImage": "https://x.example/a", "thumbnailImage": "https://x.example/b"}"#

  struct Document: CustomTestStringConvertible {
    var testDescription: String
    var text: String
    /// The number of its items.
    var count: Int
  }

  static let documents: [Document] = [
    Document(testDescription: "one item", text: plain, count: 1),
    Document(testDescription: "an array", text: "\u{FEFF} [\(plain),\n \(plain) ] \n", count: 2),
    Document(testDescription: "JSON lines", text: "\(plain)\n\(plain)\r\n\n\(plain)\n", count: 3),
    Document(testDescription: "nothing between", text: plain + plain, count: 2),
    Document(
      testDescription: "the rich form",
      text: """
        {"id": 22345792, "alt": "Ein \\"H\\u00e4fchen\\" am Flußufer 🎏", "page": "https://x.example/post/1", "n": -1.5e3,
         "variants": [
           {"role": "original", "url": "https://x.example:8443/a.jpg?x=1", "width": 1280, "height": 960, "bytes": 412345,
            "type": "image/jpeg", "more": {"a": [1, true, null, "\\/"], "b": {}}},
           {"url": "http://x.example/s.jpg", "role": "thumbnail", "width": 461}],
         "placeholder": {"blurhash": "UFBWY:8_0Jxv4mx]t8t64.%M-:IUWGWAt6M}", "thumbhash": "3OcRJYB4d3h", "color": "#33aaFF"}}
        """,
      count: 1
    ),
    Document(
      testDescription: "unusual items",
      text: """
        {"id": "\\u0042", "originalImage": "https://x.example/a"}
        {"id": "ä", "originalImage": "https://x.example/a"}
        {"originalImage": "https:\\/\\/x.example\\/a"}
        {"originalImage": "https://X.example/a", "thumbnailImage": "https://x.example:443/a#s"}
        {"originalImage": "https://x.example/a", "originalImage": "https://x.example/b"}
        {"originalImage": "https://x.example"}
        {"originalImage": "https://u:p@x.example/a"}
        {"originalImage": "https://[2001:db8::1]/a"}
        {"originalImage": "http://127.0.0.1/a"}
        {"originalImage": "http://cdn.localhost/a"}
        {"variants": [{"url": "https://x.example/a", "width": 800}, {"url": "https://x.example/b", "width": 400}]}
        {"original\\u0049mage": "https://x.example/a", "thumbnailImage": "https://x.example/b"}
        """,
      count: 12
    ),
    Document(
      testDescription: "one address for both, and null",
      text: """
        {"originalImage": "https://x.example/a", "thumbnailImage": "https://x.example/a", "id": null}
        {"originalImage": null, "thumbnailImage": "https://x.example/a", "placeholder": null, "alt": null}
        """,
      count: 2
    ),
  ]

  @Test(arguments: documents, [1, 2, 7, 64, Int.max])
  func `a document in pieces has the same items as the whole`(document: Document, length: Int) throws {
    let bytes = Array(document.text.utf8)
    let items = try Self.read(bytes, pieces: length)
    #expect(items == (try FeedItem.items(json: bytes)))
    #expect(items.count == document.count)
  }

  @Test(
    arguments: [
      ("", nil, nil, "expected an item, found none"),
      (" [ ] ", nil, nil, "expected an item, found none"),
      ("\(plain)\n\n {\"a\" 1}", 3, 7, "not JSON: expected `:` after the name, found `1`"),
      ("\(plain)\noops\n\(plain)", 2, 1, "not JSON: expected a JSON value, found `o`"),
      ("[\(plain)", 1, 94, "not JSON: expected `,` or `]`, but the text ends here"),
      ("[\(plain),", 1, 95, "not JSON: expected a JSON value, but the text ends here"),
      ("[\(plain)\n\(plain)]", 2, 1, "not JSON: expected `,` or `]`, found `{`"),
      ("[\(plain)] 5", 1, 96, "not JSON: expected the end of the text"),
      ("{}", 1, nil, "an item needs `originalImage`, `thumbnailImage` or `variants`, but has none of them"),
      ("[{}]", 1, nil, "an item needs `originalImage`, `thumbnailImage` or `variants`, but has none of them"),
      (
        "\(plain)\n\(plain)\n{\"originalImage\": \"b\"}\n\(plain)", 3, nil,
        "item 3, `originalImage`: expected an absolute http or https URL, but `b` is relative"
      ),
      ("\(plain)\n[\(plain)]", 2, nil, "item 2: expected an object, found an array"),
      (
        "{\"originalImage\": \"https://x.example/\u{1}\"}", 1, 38,
        "not JSON: a control character in a string must be escaped"
      ),
    ] as [(String, Int?, Int?, String)],
    [1, 64, Int.max]
  )
  func `an error is reported with its line`(
    row: (document: String, line: Int?, column: Int?, message: String),
    length: Int
  ) {
    let error = #expect(throws: FeedItemError.self) {
      try Self.read(Array(row.document.utf8), pieces: length)
    }
    #expect(error?.line == row.line)
    #expect(error?.column == row.column)
    #expect(error?.withoutLine == row.message)
  }

  @Test func `an error is reported before the rest arrives`() {
    var reader = FeedItemReader()
    let piece = ArraySlice("{\"originalImage\": oops}\n{\"originalImage\": \"".utf8)
    #expect(throws: FeedItemError.self) { try reader.read(piece, isLast: false) }
  }

  @Test func `an endless item is refused`() {
    var reader = FeedItemReader()
    let piece = ArraySlice(repeating: UInt8(ascii: "a"), count: 1 << 20)
    let error = #expect(throws: FeedItemError.self) {
      _ = try reader.read(ArraySlice("\n{\"id\": \"".utf8), isLast: false)
      for _ in 0..<17 { _ = try reader.read(piece, isLast: false) }
    }
    #expect(error?.withoutLine == "an item is longer than the limit of 16 MiB")
    #expect(error?.line == 2)
  }

  @Test func `a long item is read although others follow it`() throws {
    let items = [13, 5].map { mebibytes in
      let text = String(repeating: "a", count: mebibytes << 20)
      return #"{"originalImage": "https://x.example/a", "alt": "\#(text)"}"#
    }
    // After 12 MiB, the first item is still incomplete. The next 6 MiB complete it and exceed the limit.
    let read = try Self.read(Array(items.joined(separator: "\n").utf8), pieces: 3 << 20)
    #expect(read.count == 2)
  }

  @Test(arguments: 0..<20)
  func `a damaged document reads the same in pieces and as a whole`(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let words = [
      "\"", "\\", "\\u00e4", "\\ud83d", "{", "}", "[", "]", ",", ":", " ", "\n", "null", "true", "-0", "01",
      "1.5e3",
      "\u{0}", "\u{7F}", "ä", "#", "https://x.example/c", "\"id\"", "\"variants\"", "\"role\"", "\"bytes\"",
      "@", ":443",
    ].map { Array($0.utf8) }
    let sources = Self.documents.map { Array($0.text.utf8) }
    for _ in 0..<500 {
      var bytes = sources[Int(random.next() % UInt64(sources.count))]
      for _ in 0...(random.next() % 3) {
        let start = Int(random.next() % UInt64(bytes.count))
        let end = min(bytes.count, start + Int(random.next() % 4))
        bytes.replaceSubrange(start..<end, with: words[Int(random.next() % UInt64(words.count))])
      }
      let whole = Result { try FeedItem.items(json: bytes) }
      let pieces = Result { try Self.read(bytes, pieces: Int(random.next() % 200) + 1) }
      switch (whole, pieces) {
      case (.success(let items), .success(let others)): #expect(items == others)
      case (.failure, .failure): break
      default: Issue.record("\(whole) and \(pieces) of \(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }
}

/// A generator with the same numbers on every machine (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

import FeedimgModel
import Glibc
import TestSystem
import Testing

@testable import FeedimgHTTPCache

/// Several responses of one URL, selected by request fields (RFC 9111 §4.1).
@Suite struct VariantTests {
  let folder: TestFolder
  let clock = TestClock(noon)
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
  }

  /// Stores a response to a request.
  private func store(_ number: Int, _ responseFields: String, to request: String) throws {
    var brought = try response(responseFields, requestedAt: clock.now, respondedAt: clock.now)
    brought.varied = Vary(brought.head.fields).select(from: fields(request))
    let writer = try cache.makeWriter()
    try picture(number).withUnsafeBytes { try writer.write($0) }
    _ = try writer.commit(ImageMetadata(key: Self.key, role: .original, mediaType: "", response: brought))
  }

  private static let key = "https://example.org/a.jpg"

  struct Row: Sendable {
    /// The stored responses with their requests, numbered from 1.
    var stored: [(response: String, request: String)]
    var request: String
    /// The number of the response that is found.
    var found: Int
    var because: String
  }

  private static let rows = [
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("Vary: Accept", "Accept: webp")],
      request: "Accept: avif",
      found: 1,
      because: "each has its own"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("Vary: Accept", "Accept: webp")],
      request: "Accept: webp",
      found: 2,
      because: "each has its own"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("Vary: Accept", "Accept: webp")],
      request: "Accept: png",
      found: 1,
      because: "without a matching response the first one is used, after validation"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: a, b"), ("Vary: Accept", "Accept: webp")],
      request: "accept: a ,b",
      found: 1,
      because: "white space does not count"
    ),
    Row(
      stored: [("Vary: Save-Data", "Save-Data: on"), ("Vary: Save-Data", "")],
      request: "Accept: png",
      found: 2,
      because: "an absent field differs from a present one"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("Vary: Accept", "Accept: avif")],
      request: "Accept: avif",
      found: 2,
      because: "a newer response to the same request replaces it"
    ),
    Row(
      stored: [
        ("Vary: Accept", "Accept: avif"), ("Vary: Accept", "Accept: webp"), ("Vary: Accept", "Accept: webp"),
      ],
      request: "Accept: webp",
      found: 3,
      because: "also if it is not the first of its URL"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("", "Accept: webp")],
      request: "Accept: avif",
      found: 2,
      because: "a response without Vary serves every request"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("Vary: Accept, DPR", "Accept: webp\nDPR: 2")],
      request: "Accept: avif",
      found: 2,
      because: "the server selects by another field now"
    ),
    Row(
      stored: [("Vary: Accept", "Accept: avif"), ("Vary: *", "Accept: webp")],
      request: "Accept: avif",
      found: 2,
      because: "a response that varies by more than the request is stored once, and always validated"
    ),
    Row(
      stored: [("", "Accept: avif"), ("Vary: Accept", "Accept: webp")],
      request: "Accept: avif",
      found: 2,
      because: "the server now varies its responses"
    ),
  ]

  @Test func `credentials of a request are stored as a hash, and still select the variant`() throws {
    let names = ["Authorization", "Cookie"]
    func request(_ value: String) -> HTTPFields {
      HTTPFields(names.map { HTTPFields.Field(name: $0, value: value) })
    }
    let folder = try TestFolder()
    let store = DiskCache(folder)
    let link = "<http://ann:s3cret@x.example/b>; rel=next"
    let fields = HTTPFields([
      .init(name: "Vary", value: "Authorization, Cookie"), .init(name: "Link", value: link),
    ])
    let url = try ImageURL("http://ann:s3cret@x.example/a")
    let head = ResponseHead(status: 200, fields: fields, url: url)
    for (number, value) in ["s3cret one", "s3cret two"].enumerated() {
      let writer = try store.makeWriter()
      try picture(number).withUnsafeBytes { try writer.write($0) }
      var metadata = ImageMetadata(key: url.key, role: .original, mediaType: "image/jpeg", head: head)
      metadata.response.varied = request(value)
      _ = try writer.commit(metadata)
    }
    let other = DiskCache(folder)
    for (number, value) in ["s3cret one", "s3cret two"].enumerated() {
      let found = try #require(other.read(url.key, for: request(value)))
      #expect(found.bytes == picture(number))
      #expect(found.image.response?.matches(request(value)) == true)
      #expect(found.image.response?.matches(request("s3cret three")) == false)
    }
    for file in folder.files() {
      let text = String(decoding: content(of: "\(folder.cache)/\(file)"), as: UTF8.self)
      #expect(!text.contains("s3cret") && !text.contains("ann:"), "\(file)")
    }
  }

  @Test(arguments: rows.indices) func `a request finds the response that was selected for such a request`(
    index: Int
  ) throws {
    let row = Self.rows[index]
    for (index, stored) in row.stored.enumerated() {
      try store(index + 1, stored.response, to: stored.request)
      clock += 1
    }
    let found = try #require(cache.read(Self.key, for: fields(row.request)))
    #expect(found.bytes == picture(row.found), "\(row.because)")
    #expect(found.image.key == Self.key)
    let response = try #require(cache.response(for: Self.key, to: fields(row.request)))
    #expect(response == found.image.response)
  }

  @Test func `the number of responses of one URL is limited`() throws {
    for number in 0..<100 { try store(number, "Vary: User-Agent", to: "User-Agent: \(number)") }
    let entries = try cache.info().entries
    #expect((2...5).contains(entries))
    clock += 600
    try cache.trim()
    #expect(folder.bodies.count == entries)
    #expect(cache.read(Self.key, for: fields("User-Agent: 99"))?.bytes == picture(99))
    #expect(cache.read(Self.key, for: fields("User-Agent: 0"))?.bytes == picture(0))
    #expect(try cache.list().map(\.key) == Array(repeating: Self.key, count: entries))
  }

  @Test func `an update of one response does not change the others`() throws {
    try store(1, "Vary: Accept\nETag: \"1\"", to: "Accept: avif")
    try store(2, "Vary: Accept\nETag: \"2\"", to: "Accept: webp")
    let (avif, webp) = (fields("Accept: avif"), fields("Accept: webp"))
    let first = try #require(cache.response(for: Self.key, to: avif))
    let stored = try #require(cache.response(for: Self.key, to: webp))
    clock += 10
    let notModified = try response("Cache-Control: max-age=9", status: 304, respondedAt: clock.now)
    #expect(try cache.refresh(Self.key, validating: stored, response: notModified) != nil)
    let updated = try #require(cache.response(for: Self.key, to: webp))
    #expect(updated.head.fields["Cache-Control"] == "max-age=9")
    #expect(updated.head.fields["ETag"] == "\"2\"")
    #expect(cache.response(for: Self.key, to: avif) == first)
  }

  @Test(arguments: [true, false])
  func `a response that is used daily does not expire with the first one of the URL`(isRead: Bool) throws {
    try store(1, "Vary: Accept", to: "Accept: avif")
    try store(2, "Vary: Accept", to: "Accept: webp")
    for _ in 0..<10 {
      clock += 86_400
      if isRead {
        #expect(cache.read(Self.key, for: fields("Accept: webp"))?.bytes == picture(2))
      } else {
        cache.noteUse(of: Self.key, for: fields("Accept: webp"))
      }
      try cache.trim()
    }
    #expect(cache.contains([Self.key]) == [true])
    #expect(cache.read(Self.key, for: fields("Accept: webp"))?.bytes == picture(2))
    #expect(try cache.info().hits == 11)
  }

  @Test func `all responses of a URL are removed together`() throws {
    try store(1, "Vary: Accept", to: "Accept: avif")
    try store(2, "Vary: Accept", to: "Accept: webp")
    #expect(cache.read(Self.key, for: fields("Accept: webp"))?.bytes == picture(2))
    #expect(cache.read(Self.key, for: fields("Accept: avif"))?.bytes == picture(1))
    #expect(try cache.keys(of: Self.key) == [Self.key])
    #expect(try cache.remove(Self.key))
    #expect(folder.bodies.isEmpty)
    #expect(try !cache.remove(Self.key))
  }

  @Test func `a damaged response is replaced by another one of the URL`() throws {
    try store(1, "Vary: Accept", to: "Accept: avif")
    try store(2, "Vary: Accept", to: "Accept: webp")
    let path = try #require(cache.read(Self.key, for: fields("Accept: webp"))?.image.path)
    overwrite(path, picture(3))
    #expect(cache.read(Self.key, for: fields("Accept: webp")) == nil)
    #expect(cache.read(Self.key, for: fields("Accept: webp"))?.bytes == picture(1))
    #expect(try cache.info().entries == 1)
  }

  @Test(arguments: [
    ("https://a/b", "https://a/b"), ("https://a/b #3", "https://a/b"), ("https://a/b#3", "https://a/b#3"),
    (" #1", ""), ("#1", "#1"), ("", ""), ("https://a/b #x", "https://a/b #x"),
  ])
  func `the URL of a key is the part before its number`(key: String, url: String) {
    #expect(VariantKey.url(key) == url)
  }
}

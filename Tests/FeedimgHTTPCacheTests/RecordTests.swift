import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgHTTPCache

@Suite struct RecordTests {
  func makeRecord(key: String = "https://a/ü\t\\n\n", fields: [HTTPFields.Field] = []) throws -> EntryRecord {
    let head = ResponseHead(
      status: 206,
      fields: HTTPFields(fields),
      url: try ImageURL("https://example.org/a?b"),
      contentLength: 12,
      endsByClosing: true
    )
    return EntryRecord(
      ImageMetadata(
        key: key,
        role: .thumbnail,
        mediaType: "image/png",
        response: StoredResponse(
          head: head,
          varied: HTTPFields([.init(name: "Accept", value: "image/webp")]),
          requestedAt: 1_799_999_999.25,
          respondedAt: -1
        )
      ),
      size: 12,
      checksum: .max,
      storedAt: 1_800_000_000.125
    )
  }

  func read(_ line: [UInt8]) -> EntryRecord? { EntryRecord(line: line[...]) }

  @Test func `a record is read as it was written, within one line`() throws {
    let fields = [("ETag", "\"x\\y\""), ("Cache-Control", "max-age=3\tprivate"), ("X", ""), ("", "y")]
      .map { HTTPFields.Field(name: $0.0, value: $0.1) }
    let record = try makeRecord(fields: fields)
    #expect(!record.line.contains(10))
    let copy = try #require(read(record.line))
    #expect(copy == record)
    let response = try #require(StoredResponse(copy))
    let head = response.head
    #expect(response.varied["accept"] == "image/webp")
    #expect(response.requestedAt == 1_799_999_999.25)
    #expect(response.respondedAt == -1)
    #expect(head.fields.fields == fields)
    #expect(head.status == 206)
    #expect(head.url.text == "https://example.org/a?b")
    #expect(head.contentLength == 12)
    #expect(head.endsByClosing)
  }

  @Test func `every flipped bit and every cut is detected`() throws {
    let line = try makeRecord().line
    for position in line.indices {
      for bit in 0..<8 {
        var damaged = line
        damaged[position] ^= 1 << UInt8(bit)
        #expect(read(damaged) == nil)
      }
      #expect(read(Array(line[..<position])) == nil)
    }
  }

  @Test func `a line of another form is not read`() throws {
    let content = Array("9\tkey".utf8)
    let line = Array(Checksum.of(content).hexadecimal.utf8) + [9] + content
    #expect(read(line) == nil)
  }

  @Test(arguments: [
    ("0123456789abcdef-0123456789abcdef.jpg", true), ("0123456789abcdef-0123456789abcdef", true),
    ("0123456789ABCDEF-0123456789abcdef.jpg", false), ("0123456789abcdef_0123456789abcdef.jpg", false),
    ("0123456789abcdef-0123456789abcdef.", false), ("0123456789abcdef-0123456789abcdef/../x", false),
    ("0123456789abcdef-0123456789abcde", false), ("catalog", false), ("", false),
    ("0123456789abcdef-0123456789abcdef.jpegjpeg", false),
  ])
  func `only names that the cache assigns are names of bodies`(name: String, isBody: Bool) {
    #expect((BodyName(name) != nil) == isBody)
    #expect((BodyName(name)?.text ?? name) == name)
  }

  @Test(arguments: ["/var/cache", "/var/cäche/a b", "/var/cache/", "/"])
  func `a body is in the folder of its shard, for any spelling of the cache's path`(path: String) throws {
    let body = try #require(BodyName("3fa3456789abcdef-0123456789abcdef.jpg"))
    let folder = CacheFolder(path)
    let parent = path == "/var/cache/" ? "/var/cache" : path
    #expect(folder.path(of: body) == "\(parent)/bodies/3f/3fa3456789abcdef-0123456789abcdef.jpg")
    #expect(folder.index == "\(parent)/index.sqlite")
    #expect(folder.size(of: body) == nil)
  }

  @Test func `only a file can be a body`() throws {
    let test = try TestFolder()
    let folder = CacheFolder(test.cache)
    let body = BodyName(key: "a", mediaType: "image/svg+xml")
    try FilePath.makeFolder(folder.folder(of: body.shard))
    overwrite(folder.path(of: body), [1, 2, 3])
    #expect(folder.size(of: body) == 3)
    #expect(folder.size(of: BodyName(key: "b", mediaType: "")) == nil)
    folder.remove([body])
    try FilePath.makeFolder(folder.path(of: body))
    #expect(folder.size(of: body) == nil)
  }

  @Test func `a shard holds the keys whose hashes begin with its number`() {
    for number in UInt8.min ... .max {
      let shard = Shard(number: number)
      #expect(Shard(keyHash: UInt64(bitPattern: shard.identifiers.lowerBound)) == shard)
      #expect(Shard(keyHash: UInt64(bitPattern: shard.identifiers.upperBound)) == shard)
    }
    #expect(Shard(number: 10).name == "0a")
  }

  @Test func `the checksum is XXH3 with 64 bits`() {
    // From `xxhsum -H3` of the xxHash project.
    #expect(Checksum.of([]).hexadecimal == "2d06800538d394c2")
    #expect(Checksum.of("feedimg") == Checksum.of(Array("feedimg".utf8)))
    guard var pieces = Checksum() else {
      Issue.record("no memory")
      return
    }
    let bytes = picture(1, size: 5000)
    for start in stride(from: 0, to: 5000, by: 333) {
      bytes[start..<min(5000, start + 333)].withUnsafeBytes { pieces.update($0) }
    }
    #expect(pieces.value == Checksum.of(bytes))
  }
}

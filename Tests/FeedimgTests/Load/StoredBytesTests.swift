import FoundationEssentials
import LoopbackServer
import Testing

@testable import Feedimg

/// Bytes that the program has, and bytes by URL.
@Suite(.timeLimit(.minutes(10))) struct StoredBytesTests {
  private let url: ImageURL
  private let item: FeedItem

  init() throws {
    item = try TestLoader.item(original: "http://a.example/a.jpg")
    url = try ImageURL("http://a.example/a.jpg")
  }

  @Test func `stored bytes are shown without a request, also by another loader`() async throws {
    let test = try TestLoader(.offline)
    try await test.loader.store(SampleImage.png, for: url)
    let image = try await test.loader.load(item)
    #expect(image.source == .memory && image.bytes == SampleImage.png && image.mediaType == "image/png")
    let other = try TestLoader(.offline, folder: test.folder)
    #expect(try await other.loader.load(item).source == .disk)
    let cached = await other.loader.cached(url)
    #expect(cached?.bytes == SampleImage.png && cached?.path != nil && cached?.mediaType == "image/png")
  }

  @Test func `bytes stored in memory only leave no file`() async throws {
    let test = try TestLoader(.offline)
    try await test.loader.store(SampleImage.png, for: url, cache: .bypassDisk)
    let cached = await test.loader.cached(url)
    #expect(cached?.source == .memory && cached?.path == nil)
    #expect(await test.loader.cached(url, cache: .bypassMemory) == nil)
    let other = try TestLoader(.offline, folder: test.folder)
    #expect(await other.loader.cached(url) == nil)
  }

  @Test func `bytes stored in memory only leave an older file as it is`() async throws {
    let test = try TestLoader(.offline)
    try await test.loader.store(SampleImage.jpeg, for: url)
    try await test.loader.store(SampleImage.png, for: url, cache: .bypassDisk)
    #expect(await test.loader.cached(url)?.bytes == SampleImage.png)
    #expect(await test.loader.cached(url, cache: .bypassMemory)?.bytes == SampleImage.jpeg)
  }

  @Test func `stored bytes replace an older image and have a file`() async throws {
    let test = try TestLoader(.offline)
    try await test.loader.store(SampleImage.png, for: url)
    try await test.loader.store(SampleImage.jpeg, for: url, cache: .bypassMemory)
    let cached = await test.loader.cached(url)
    #expect(cached?.source == .disk && cached?.bytes == SampleImage.jpeg)
    let path = try #require(try await test.loader.load(item).path)
    #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == SampleImage.jpeg)
  }

  @Test func `bytes that are no image are refused`() async throws {
    let test = try TestLoader(.offline)
    let url = url
    let error = await #expect(throws: LoadError.self) {
      try await test.loader.store(Array("hello".utf8), for: url)
    }
    #expect(error?.code == .notAnImage)
    #expect(await test.loader.cached(url) == nil)
  }

  @Test(arguments: [
    (1000, LoadError.Code.tooLarge, "an image may take a quarter"), (0, .unavailable, "memory keeps nothing"),
  ])
  func `an image that memory cannot keep is refused if only memory is asked`(
    limit: Int,
    code: LoadError.Code,
    why: String
  ) async throws {
    let test = try TestLoader(.offline, memoryLimit: ByteCount(limit))
    let url = url
    let error = await #expect(throws: LoadError.self) {
      try await test.loader.store(SampleImage.png, for: url, cache: .bypassDisk)
    }
    #expect(error?.code == code, "\(why)")
  }

  @Test func `an unknown URL has no bytes, and no request is sent`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let test = try TestLoader()
    #expect(await test.loader.cached(try ImageURL(server.url("/a.jpg"))) == nil)
    #expect(server.log.requests.isEmpty)
  }
}

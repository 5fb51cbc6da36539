import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Interrupted transfers: their stored bytes, and how loads resume them.
@Suite(.timeLimit(.minutes(10))) struct ResumingLoadTests {
  let clock = TestClock()
  static let picture = PictureOrigin.picture(1, size: 200_000)
  static let other = PictureOrigin.picture(2, size: 150_000)
  static let strong = [("ETag", "\"1\""), ("Accept-Ranges", "bytes"), ("Cache-Control", "max-age=600")]

  private func loader(folder: String? = nil, time: MonotonicTime = .system()) throws -> TestLoader {
    try TestLoader(folder: folder, clock: { [clock] in clock.now }, time: time)
  }

  private func item(_ origin: PictureOrigin) throws -> FeedItem {
    try TestLoader.item(origin.server, original: "/a.jpg")
  }

  /// A loader whose load of the image was just interrupted.
  private func broken(_ origin: PictureOrigin, after count: Int = 120_000) async throws -> TestLoader {
    let test = try loader()
    origin.cut(after: count)
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    #expect(error?.code == .truncated)
    return test
  }

  @Test func `an interrupted load resumes, also after a restart, and fetches only the rest`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let first = try await broken(origin)
    let second = try loader(folder: first.folder)
    let image = try await second.loader.load(item(origin))
    #expect(image.bytes == Self.picture)
    #expect(origin.requests.last?["Range"] == "bytes=120000-")
    #expect(origin.requests.last?["If-Range"] == "\"1\"")
    let third = try loader(folder: first.folder)
    let stored = try await third.loader.load(item(origin))
    #expect(stored.source == .disk && stored.bytes == Self.picture)
    #expect(stored.freshness?.left == 600)
    #expect(
      third.loader.resources.storage.store.partialDownload(of: try #require(item(origin).original).url.key)
        == nil
    )
    #expect(origin.requests.count == 2)
  }

  @Test func `a body that proves to be complete is stored`() async throws {
    let server = try LoopbackServer { request in
      let length = Self.picture.count
      let unsatisfied = [("ETag", "\"1\""), ("Content-Range", "bytes */\(length)")]
      guard request.rangeStart == nil else { return .response(416, unsatisfied) }
      // The last chunk is missing, so that the end of the body is unknown.
      let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=600"), ("Transfer-Encoding", "chunked")]
      let size = Array("\(String(length, radix: 16))\r\n".utf8)
      return Reply([.send(Reply.head(200, fields) + size + Self.picture)])
    }
    let item = try TestLoader.item(server, original: "/a.jpg")
    let first = try loader()
    let error = await #expect(throws: LoadError.self) { try await first.loader.load(item) }
    #expect(error?.code == .truncated)
    let second = try loader(folder: first.folder)
    let image = try await second.loader.load(item)
    #expect(image.bytes == Self.picture && image.path != nil)
    let third = try loader(folder: first.folder)
    #expect(try await third.loader.load(item).source == .disk)
    #expect(server.log.requests.map { $0["Range"] } == [nil, "bytes=\(Self.picture.count)-"])
  }

  @Test func `the rest is also requested from a server that does not announce ranges`() async throws {
    let origin = try PictureOrigin(Self.picture, [("ETag", "\"1\"")])
    let test = try await broken(origin)
    #expect(try await test.loader.load(item(origin)).bytes == Self.picture)
    #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=120000-"])
  }

  @Test func `a load can be interrupted and resumed many times`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try await broken(origin, after: 50_000)
    for _ in 0..<2 {
      origin.cut(after: 50_000)
      await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    }
    #expect(try await test.loader.load(item(origin)).bytes == Self.picture)
    #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=50000-", "bytes=100000-", "bytes=150000-"])
  }

  @Test func `a changed image is fetched whole, and the partial old one is deleted`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try await broken(origin)
    origin.version = .init(Self.other, [("ETag", "\"2\""), ("Accept-Ranges", "bytes")])
    #expect(try await test.loader.load(item(origin)).bytes == Self.other)
    #expect(origin.requests.count == 2)
    #expect(
      test.loader.resources.storage.store.partialDownload(of: try #require(item(origin).original).url.key)
        == nil
    )
  }

  @Test func `a changed image that is interrupted resumes as the new version`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try await broken(origin)
    origin.version = .init(Self.other, [("ETag", "\"2\""), ("Accept-Ranges", "bytes")])
    origin.cut(after: 70_000)
    await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    #expect(try await test.loader.load(item(origin)).bytes == Self.other)
    #expect(origin.requests.last?["Range"] == "bytes=70000-")
    #expect(origin.requests.last?["If-Range"] == "\"2\"")
  }

  @Test func `a captive portal's page in place of the rest does not change the stored part`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try await broken(origin)
    let page = Array("<!DOCTYPE html><html><body>Sign in</body></html>".utf8)
    origin.respond(always: .response(200, [("Content-Type", "text/html")], body: page))
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    #expect(error?.code == .notAnImage && error?.suspectsCaptivePortal == true)
    origin.respond(always: nil)
    let next = try loader(folder: test.folder)
    #expect(try await next.loader.load(item(origin)).bytes == Self.picture)
    #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=120000-", "bytes=120000-"])
  }

  @Test func `a modification date is a strong validator if it is a minute old`() async throws {
    let origin = try PictureOrigin(
      Self.picture,
      [
        ("Last-Modified", "Fri, 15 Jan 2027 07:00:00 GMT"), ("Date", "Fri, 15 Jan 2027 08:00:00 GMT"),
        ("Accept-Ranges", "bytes"),
      ]
    )
    let test = try await broken(origin)
    #expect(try await test.loader.load(item(origin)).bytes == Self.picture)
    #expect(origin.requests.last?["If-Range"] == "Fri, 15 Jan 2027 07:00:00 GMT")
  }

  static let unsafe: [([(String, String)], String)] = [
    ([("ETag", "W/\"1\""), ("Accept-Ranges", "bytes")], "a weak tag may match other bytes"),
    ([("ETag", "\"1\""), ("Accept-Ranges", "none")], "ranges are not served"),
    ([("Accept-Ranges", "bytes")], "there is no validator"),
    (strong + [("Cache-Control", "no-store")], "no part may be stored"),
  ]

  @Test(arguments: unsafe)
  func `a load that cannot resume safely restarts`(
    _ fields: [(String, String)],
    _ because: String
  ) async throws {
    let origin = try PictureOrigin(Self.picture, fields)
    let test = try await broken(origin)
    #expect(try await test.loader.load(item(origin)).bytes == Self.picture)
    #expect(origin.requests.count == 2)
    #expect(origin.requests.last?["Range"] == nil, "\(because)")
  }

  private static let tag = ("ETag", "\"1\"")
  private static let place = ("Content-Range", "bytes 120000-199999/200000")

  static let wrong: [(String, [(String, String)], Int)] = [
    ("another place", [tag, ("Content-Range", "bytes 0-79999/200000")], 80_000),
    ("another total length", [tag, ("Content-Range", "bytes 120000-199999/200001")], 80_000),
    ("another length of the part", [tag, place], 70_000),
    ("another version", [("ETag", "\"2\""), place], 80_000),
    ("the version is missing", [place], 80_000),
    ("no place", [tag], 80_000),
  ]

  @Test(arguments: wrong)
  func `a part of another version is never appended`(
    _ what: String,
    _ fields: [(String, String)],
    _ count: Int
  ) async throws {
    let isBroken = BrokenOnce()
    let server = try LoopbackServer { request in
      if request["Range"] != nil {
        return .response(206, fields, body: Array(repeating: 0, count: count))
      }
      return isBroken.next()
        ? .truncated(Self.picture, after: 120_000, Self.strong)
        : .response(200, Self.strong, body: Self.picture)
    }
    let test = try loader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(try await test.loader.load(item).bytes == Self.picture, "\(what)")
    #expect(server.log.requests.map { $0["Range"] } == [nil, "bytes=120000-", nil])
  }

  @Test func `a refused range is not requested twice`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try await broken(origin)
    // The image is shorter now, and the server ignores If-Range.
    origin.version = .init(
      Array(Self.picture.prefix(100_000)),
      [("ETag", "\"1\""), ("Accept-Ranges", "bytes")]
    )
    #expect(try await test.loader.load(item(origin)).bytes.count == 100_000)
    #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=120000-", nil])
  }

  @Test func `if only the end was missing, a refused range completes the image`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try loader()
    // The response is chunked, so that its length is unknown.
    origin.respond(
      always: Reply([
        .send(
          Reply.head(200, Self.strong + [("Transfer-Encoding", "chunked")])
            + Array("30d40\r\n".utf8) + Self.picture
        )
      ])
    )
    await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    origin.respond(always: nil)
    #expect(try await test.loader.load(item(origin)).bytes == Self.picture)
    #expect(origin.requests.count == 2)
  }

  @Test func `a server that sends less than the requested range is asked for the rest`() async throws {
    let server = try LoopbackServer { request in
      guard let first = request.rangeStart else {
        return .truncated(Self.picture, after: 50_000, Self.strong)
      }
      let part = Self.picture[first..<min(first + 60_000, 200_000)]
      let place = ("Content-Range", "bytes \(first)-\(part.endIndex - 1)/200000")
      // Without fields that the first response had, as RFC 9110 §15.3.7 allows.
      return .response(206, [("ETag", "\"1\""), place], body: Array(part))
    }
    let test = try loader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    let image = try await test.loader.load(item)
    #expect(image.bytes == Self.picture)
    #expect(image.freshness?.rule == "max-age=600 (RFC 9111 §5.2.2.1)")
    #expect(server.log.requests.count == 4)
  }

  @Test
  func `a cancelled load keeps its bytes, also if it is cancelled again before the response`()
    async throws
  {
    let gate = Gate()
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try loader()
    let item = try item(origin)
    let key = try #require(item.original).url.key
    origin.respond(always: .stalled(Self.picture, after: 90_000, until: gate, Self.strong))
    let load = Task { try await test.loader.load(item) }
    // A caller hears of the last bytes later than the register of transfers.
    let transfers = test.loader.resources.loads.transfers
    while transfers.present.first?.progress?.received != ByteCount(90_000) { await Task.yield() }
    load.cancel()
    await #expect(throws: LoadError.self) { try await load.value }
    while test.loader.resources.storage.store.partialDownload(of: key)?.bytes.count != 90_000 {
      await Task.yield()
    }
    let silence = Gate()
    origin.respond(always: .held(by: silence))
    let again = Task { try await test.loader.load(item) }
    await origin.server.reaches { $0.requests.count == 2 }
    again.cancel()
    await #expect(throws: LoadError.self) { try await again.value }
    await origin.server.reaches { $0.closedByClient == 2 }
    origin.respond(always: nil)
    #expect(try await test.loader.load(item).bytes == Self.picture)
    #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=90000-", "bytes=90000-"])
    gate.open()
    silence.open()
  }

  @Test func `progress includes the stored bytes`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try await broken(origin)
    let least = LeastProgress()
    _ = try await test.loader.load(item(origin)) { least.note($0) }
    #expect(least.value >= 120_000)
  }

  @Test func `an interrupted new version of a cached image resumes at the next revalidation`()
    async throws
  {
    let origin = try PictureOrigin(SampleImage.jpeg, [("ETag", "\"0\""), ("Cache-Control", "max-age=60")])
    let time = ManualTime()
    let test = try loader(time: time.time)
    _ = try await test.loader.load(item(origin))
    clock += 100
    origin.version = .init(Self.picture, Self.strong)
    origin.cut(after: 80_000)
    let image = try await test.loader.load(item(origin))
    guard case .failed(let error) = await test.loader.revalidation(of: image) else {
      Issue.record("did not fail")
      return
    }
    #expect(error.code == .truncated)
    clock += 100
    time.pass(.seconds(100))
    let again = try await test.loader.load(item(origin))
    #expect(again.bytes == SampleImage.jpeg)
    guard case .changed(let new) = await test.loader.revalidation(of: again) else {
      Issue.record("no new version")
      return
    }
    #expect(new.bytes == Self.picture)
    #expect(origin.requests.last?["If-None-Match"] == "\"0\"")
    #expect(origin.requests.last?["Range"] == "bytes=80000-")
  }

  @Test func `two processes resume one partial download, and both get the right image`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let first = try await broken(origin)
    let second = try loader(folder: first.folder)
    async let one = first.loader.load(item(origin))
    async let two = second.loader.load(item(origin))
    let images = try await [one, two]
    #expect(images.allSatisfy { $0.bytes == Self.picture })
  }
}

import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Images that change during their transfer, from servers that ignore `If-Range`.
@Suite struct MixedVersionTests {
  private static let old = PictureOrigin.picture(1, size: 200_000)
  /// It has the length of the old one, so that only the response fields differ.
  private static let new = PictureOrigin.picture(2, size: 200_000)

  private static let date = ("Date", "Fri, 15 Jan 2027 08:00:00 GMT")
  private static let before = ("Last-Modified", "Fri, 15 Jan 2027 06:00:00 GMT")
  private static let after = ("Last-Modified", "Fri, 15 Jan 2027 07:00:00 GMT")
  private static let tag = ("ETag", "\"1\"")

  static let rows: [(String, old: [(String, String)], new: [(String, String)])] = [
    ("another date", old: [date, before], new: [date, after]),
    ("the same tag with another date", old: [date, before], new: [date, before, tag]),
    ("no tag any more", old: [tag], new: []),
    ("a date instead of the tag", old: [tag, date, before], new: [date, before]),
    ("another tag", old: [tag], new: [("ETag", "\"2\"")]),
  ]

  /// Sends half of the old picture, then the requested range of the new one.
  private static func server(
    _ row: (String, old: [(String, String)], new: [(String, String)])
  ) throws
    -> LoopbackServer
  {
    let isBroken = BrokenOnce()
    let ranges = [("Accept-Ranges", "bytes")]
    return try LoopbackServer { request in
      if isBroken.next() { return .truncated(old, after: 100_000, row.old + ranges) }
      guard request["Range"] != nil else { return .response(200, row.new + ranges, body: new) }
      let place = [("Content-Range", "bytes 100000-199999/200000")]
      return .response(206, row.new + place, body: Array(new.dropFirst(100_000)))
    }
  }

  @Test(arguments: rows.indices) func `a part of the new image is never appended to the old one`(
    _ index: Int
  ) async throws {
    let row = Self.rows[index]
    let server = try Self.server(row)
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(try await test.loader.load(item).bytes == Self.new, "\(row.0)")
    let key = try #require(item.original).url.key
    #expect(test.loader.resources.storage.store.read(key)?.bytes == Self.new, "\(row.0)")
    #expect(server.log.requests.map { $0["Range"] } == [nil, "bytes=100000-", nil])
  }
}

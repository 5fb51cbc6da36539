import FeedimgHTTPCache
import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The header fields that are sent with stored responses.
@Suite struct FetchResponseTests {
  private static func response(_ fields: [(String, String)]) throws -> FetchResponse {
    let url = try ImageURL("http://a.example/b")
    let fields = HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
    let stored = StoredResponse(
      head: ResponseHead(status: 200, fields: fields, url: url),
      requestedAt: 784_111_776,
      respondedAt: 784_111_777
    )
    let request = FetchRequest(url, fields: HTTPFields(), priority: .visible)
    let hit = ResponseStore.Hit(key: "", response: stored, bytes: [])
    return FetchResponse(hit, to: request, at: 784_111_800, cacheStatus: "")
  }

  @Test(arguments: [
    ([], "Sun, 06 Nov 1994 08:49:37 GMT", "without a date the date is the time of receipt (RFC 9110 §6.6.1)"),
    ([("date", "Sun, 06 Nov 1994 08:00:00 GMT")], "Sun, 06 Nov 1994 08:00:00 GMT", "otherwise its own"),
  ]) func `a stored response has a date`(
    _ fields: [(String, String)],
    _ date: String,
    _ reason: String
  ) throws {
    #expect(try Self.response(fields).fields["Date"] == date, "\(reason)")
  }

  @Test func `field values that no recipient would accept are made harmless`() throws {
    let fields = try Self.response([("X-A", "a\u{1}b"), ("X A", "a"), ("Content-Length", "7"), ("", "a")])
      .fields
    #expect(fields["X-A"] == "a b")
    #expect(fields.fields.map(\.name).sorted() == ["Age", "Date", "X-A"])
  }
}

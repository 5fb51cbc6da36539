import FeedimgModel
import Testing

@testable import FeedimgPipeline

struct ResumptionTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private static let now = 784_111_777

  // MARK: Whether to resume

  /// The fields of an interrupted response, and whether it can be resumed.
  struct Beginning: Sendable, CustomTestStringConvertible {
    var reason: String
    var status = 200
    var fields: [(String, String)]
    var kept = 100
    var length: Int? = 250
    /// The value of `If-Range`.
    ///
    /// Nil if it cannot be resumed.
    var validator: String?
    var supportsRanges = true
    var testDescription: String { reason }
  }

  private static let ranges = ("Accept-Ranges", "bytes")
  private static let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")

  static let beginnings = [
    Beginning(reason: "a strong tag and ranges", fields: [ranges, ("ETag", "\"1\"")], validator: "\"1\""),
    Beginning(
      reason: "the length need not be known",
      fields: [ranges, ("ETag", "\"\"")],
      length: nil,
      validator: "\"\""
    ),
    Beginning(reason: "a weak tag", fields: [ranges, ("ETag", "W/\"1\"")]),
    Beginning(
      reason: "a weak tag rules out the date beside it",
      fields: [ranges, date, ("ETag", "W/\"1\""), ("Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT")]
    ),
    Beginning(
      reason: "an invalid tag also rules out the date beside it",
      fields: [ranges, date, ("ETag", "1"), ("Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT")]
    ),
    Beginning(reason: "no tag", fields: [ranges]),
    Beginning(reason: "a tag without quotes", fields: [ranges, ("ETag", "1")]),
    Beginning(reason: "a tag with a space", fields: [ranges, ("ETag", "\"a b\"")]),
    Beginning(reason: "half a tag", fields: [ranges, ("ETag", "\"")]),
    Beginning(reason: "two tags", fields: [ranges, ("ETag", "\"1\""), ("ETag", "\"2\"")]),
    Beginning(
      reason: "no word about ranges",
      fields: [("ETag", "\"1\"")],
      validator: "\"1\"",
      supportsRanges: false
    ),
    Beginning(
      reason: "ranges of bytes among others",
      fields: [("Accept-Ranges", "items, Bytes"), ("ETag", "\"1\"")],
      validator: "\"1\""
    ),
    Beginning(reason: "ranges refused", fields: [("Accept-Ranges", "none"), ("ETag", "\"1\"")]),
    Beginning(reason: "ranges of something else", fields: [("Accept-Ranges", "items"), ("ETag", "\"1\"")]),
    Beginning(
      reason: "a date that is old enough",
      fields: [ranges, date, ("Last-Modified", "Sun, 06 Nov 1994 08:48:37 GMT")],
      validator: "Sun, 06 Nov 1994 08:48:37 GMT"
    ),
    Beginning(
      reason: "a date of the last minute",
      fields: [ranges, date, ("Last-Modified", "Sun, 06 Nov 1994 08:48:38 GMT")]
    ),
    Beginning(
      reason: "a date without a Date field",
      fields: [ranges, ("Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT")]
    ),
    Beginning(reason: "nothing came", fields: [ranges, ("ETag", "\"1\"")], kept: 0),
    Beginning(reason: "everything came", fields: [ranges, ("ETag", "\"1\"")], kept: 250),
    Beginning(reason: "more bytes than the whole", fields: [ranges, ("ETag", "\"1\"")], kept: 251),
    Beginning(
      reason: "not to be stored",
      fields: [ranges, ("ETag", "\"1\""), ("Cache-Control", "private, No-Store")]
    ),
    Beginning(
      reason: "not to be stored by caches that do not know the status",
      fields: [ranges, ("ETag", "\"1\""), ("Cache-Control", "no-store, must-understand")],
      validator: "\"1\""
    ),
    Beginning(
      reason: "a directive within a quoted argument",
      fields: [ranges, ("ETag", "\"1\""), ("Cache-Control", "x=\"a, no-store\"")],
      validator: "\"1\""
    ),
    Beginning(
      reason: "a directive with a similar name",
      fields: [ranges, ("ETag", "\"1\""), ("Cache-Control", "x-no-store, no-store-x")],
      validator: "\"1\""
    ),
    Beginning(
      reason: "a partial response may be interrupted again",
      status: 206,
      fields: [("Content-Range", "bytes 50-249/250"), ("ETag", "\"1\"")],
      length: 200,
      validator: "\"1\""
    ),
    Beginning(
      reason: "a partial response for caches that know its status",
      status: 206,
      fields: [
        ("Content-Range", "bytes 50-249/250"), ("ETag", "\"1\""), ("Cache-Control", "must-understand"),
      ],
      length: 200,
      validator: "\"1\""
    ),
    Beginning(
      reason: "a partial response without its range",
      status: 206,
      fields: [ranges, ("ETag", "\"1\"")]
    ),
    Beginning(reason: "an error page", status: 404, fields: [ranges, ("ETag", "\"1\"")]),
  ]

  @Test(arguments: beginnings)
  func `only bytes of certainly the same version are resumed`(row: Beginning) throws {
    let head = try ResponseHead(row.status, row.fields, length: row.length)
    let resumption = Resumption(head, kept: row.kept, now: Self.now)
    #expect(resumption?.validator == row.validator)
    guard let resumption else { return }
    #expect(resumption.fields["range"] == "bytes=100-")
    #expect(resumption.fields["if-range"] == row.validator)
    #expect(resumption.total == (row.length == nil ? nil : 250))
    #expect(resumption.supportsRanges == row.supportsRanges)
  }

  // MARK: The meaning of the response

  /// A response to a range request from byte 100 of 250 on, with the tag "1".
  struct RangeResponse: Sendable, CustomTestStringConvertible {
    var reason: String
    var status: Int
    var fields: [(String, String)] = []
    var length: Int?
    var step: Resumption.Step
    var testDescription: String { reason }
  }

  private static let rest = ("Content-Range", "bytes 100-249/250")
  private static let tag = ("ETag", "\"1\"")

  static let responses = [
    RangeResponse(reason: "the rest", status: 206, fields: [rest, tag], length: 150, step: .append),
    RangeResponse(reason: "the rest, in chunks", status: 206, fields: [rest, tag], step: .append),
    RangeResponse(
      reason: "a part of the rest",
      status: 206,
      fields: [("Content-Range", "bytes 100-199/250"), tag],
      length: 100,
      step: .append
    ),
    RangeResponse(
      reason: "the rest of an unknown total",
      status: 206,
      fields: [("Content-Range", "bytes 100-249/*"), tag],
      step: .append
    ),
    RangeResponse(
      reason: "another part",
      status: 206,
      fields: [("Content-Range", "bytes 0-249/250"), tag],
      step: .startOver
    ),
    RangeResponse(
      reason: "a gap",
      status: 206,
      fields: [("Content-Range", "bytes 101-249/250"), tag],
      step: .startOver
    ),
    RangeResponse(
      reason: "the rest of another total",
      status: 206,
      fields: [("Content-Range", "bytes 100-299/300"), tag],
      step: .startOver
    ),
    RangeResponse(
      reason: "the rest of another version",
      status: 206,
      fields: [rest, ("ETag", "\"2\"")],
      step: .startOver
    ),
    RangeResponse(
      reason: "a tag that became weak",
      status: 206,
      fields: [rest, ("ETag", "W/\"1\"")],
      step: .startOver
    ),
    RangeResponse(
      reason: "a missing tag, which a partial response must repeat",
      status: 206,
      fields: [rest],
      length: 150,
      step: .startOver
    ),
    RangeResponse(
      reason: "two tags",
      status: 206,
      fields: [rest, tag, ("ETag", "\"2\"")],
      length: 150,
      step: .startOver
    ),
    RangeResponse(
      reason: "a date does not replace a tag",
      status: 206,
      fields: [rest, ("Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT")],
      length: 150,
      step: .startOver
    ),
    RangeResponse(
      reason: "a length that contradicts the range",
      status: 206,
      fields: [rest, tag],
      length: 149,
      step: .startOver
    ),
    RangeResponse(reason: "no range", status: 206, fields: [tag], step: .startOver),
    RangeResponse(
      reason: "several ranges",
      status: 206,
      fields: [("Content-Type", "multipart/byteranges; boundary=x"), tag],
      step: .startOver
    ),
    RangeResponse(
      reason: "the whole of another version",
      status: 200,
      fields: [("ETag", "\"2\"")],
      step: .replace
    ),
    RangeResponse(
      reason: "unsatisfiable range",
      status: 416,
      fields: [("Content-Range", "bytes */80")],
      step: .startOver
    ),
    RangeResponse(
      reason: "unsatisfiable range, although it exists",
      status: 416,
      fields: [("Content-Range", "bytes */250")],
      step: .startOver
    ),
    RangeResponse(reason: "unsatisfiable range, and the body is complete", status: 416, step: .startOver),
    RangeResponse(reason: "gone", status: 404, step: .error),
    RangeResponse(reason: "busy", status: 503, step: .error),
    RangeResponse(reason: "304, without a condition for it", status: 304, step: .startOver),
    RangeResponse(reason: "the whole body, changed by a proxy", status: 203, fields: [tag], step: .replace),
    RangeResponse(reason: "nothing", status: 204, fields: [tag], step: .startOver),
    RangeResponse(reason: "a redirect without a Location", status: 300, step: .startOver),
  ]

  @Test(arguments: responses)
  func `only a matching part is appended`(row: RangeResponse) throws {
    let first = try ResponseHead(200, [Self.ranges, ("ETag", "\"1\"")], length: 250)
    let resumption = try #require(Resumption(first, kept: 100, now: Self.now))
    #expect(resumption.step(try ResponseHead(row.status, row.fields, length: row.length)) == row.step)
  }

  /// The URL of a response after redirects.
  ///
  /// The first response came from `http://a/`.
  static let places = [
    ("http://a/", true), ("http://a/elsewhere", true), ("http://a:80/", true), ("https://a/", false),
    ("http://a:8080/", false), ("http://b/", false),
  ]

  @Test(arguments: places)
  func `tags of different servers are not comparable`(_ url: String, _ isSame: Bool) throws {
    let whole = try ResponseHead(200, [Self.ranges, Self.tag])
    let resumption = try #require(Resumption(whole, kept: 100, now: Self.now))
    for (status, range, step) in [
      (206, "bytes 100-249/250", Resumption.Step.append), (416, "bytes */100", .complete),
    ] {
      var head = try ResponseHead(status, [("Content-Range", range), Self.tag])
      head.url = try ImageURL(url)
      #expect(resumption.step(head) == (isSame ? step : .startOver))
    }
  }

  /// The total length in a 416, its fields, and the step.
  ///
  /// 100 bytes are stored.
  static let refusals: [(Int, [(String, String)], Resumption.Step)] = [
    (100, [tag], .complete), (101, [tag], .startOver), (100, [], .startOver),
    (100, [("ETag", "\"2\"")], .startOver),
  ]

  @Test(arguments: refusals)
  func `a body of unknown length may turn out to be complete`(
    whole: Int,
    said: [(String, String)],
    step: Resumption.Step
  ) throws {
    let first = try ResponseHead(200, [Self.ranges, Self.tag])
    let resumption = try #require(Resumption(first, kept: 100, now: Self.now))
    let fields = [("Content-Range", "bytes */\(whole)")] + said
    #expect(resumption.step(try ResponseHead(416, fields)) == step)
  }

  /// The length in the stored response, that in the part, and the result.
  static let lengths: [(Int?, String, Int?)] = [
    (250, "250", 250), (250, "*", 250), (nil, "250", 250), (nil, "*", nil),
  ]

  @Test(arguments: lengths)
  func `the stored response or the part says how long the whole is`(
    stored: Int?,
    part: String,
    whole: Int?
  ) throws {
    let first = try ResponseHead(200, [Self.ranges, Self.tag], length: stored)
    let resumption = try #require(Resumption(first, kept: 100, now: Self.now))
    let range = ("Content-Range", "bytes 100-249/\(part)")
    let head = try ResponseHead(206, [range, Self.tag], length: 150)
    #expect(resumption.completeLength(after: head) == whole)
  }

  // MARK: Content-Range

  @Test(
    arguments: [
      ("bytes 0-0/1", .part(0...0, whole: 1)), ("bytes 5-9/*", .part(5...9, whole: nil)),
      ("Bytes 5-9/10", .part(5...9, whole: 10)), ("bytes */10", .unsatisfied(whole: 10)), ("bytes */*", nil),
      ("bytes 9-5/10", nil), ("bytes 5-10/10", nil), ("bytes 5-/10", nil), ("bytes -5/10", nil),
      ("items 5-9/10", nil),
      ("bytes=5-9/10", nil), ("bytes 5-9", nil), ("bytes 5-9/10/11", nil), ("bytes +5-9/10", nil), ("", nil),
      ("bytes 5-99999999999999999999/*", nil), ("bytes 5-9223372036854775807/*", nil),
      ("bytes 9223372036854775806-9223372036854775806/*", nil),
      ("bytes 0-9007199254740991/9007199254740992", .part(0...(1 << 53) - 1, whole: 1 << 53)),
    ] as [(String, ContentRange?)]
  )
  func `an invalid range is ignored`(text: String, expected: ContentRange?) {
    #expect(ContentRange(text) == expected)
  }
}

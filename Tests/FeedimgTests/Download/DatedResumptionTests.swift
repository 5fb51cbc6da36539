import FeedimgModel
import Testing

@testable import FeedimgPipeline

/// Bodies whose versions differ only by their date.
struct DatedResumptionTests {
  /// A response to a range request from byte 100 on, with a certain date.
  struct RangeResponse: Sendable, CustomTestStringConvertible {
    var reason: String
    var status = 206
    var fields: [(String, String)]
    /// The total length, if known.
    var length: Int? = 250
    var step: Resumption.Step
    var testDescription: String { reason }
  }

  private static let modified = ("Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT")
  private static let later = ("Last-Modified", "Sun, 06 Nov 1994 08:00:01 GMT")
  private static let tag = ("ETag", "\"1\"")
  private static let rest = ("Content-Range", "bytes 100-249/250")
  private static let all = ("Content-Range", "bytes */100")

  static let responses = [
    RangeResponse(reason: "the rest of the same date", fields: [rest, modified], step: .append),
    RangeResponse(reason: "a part need not repeat the date", fields: [rest], step: .append),
    RangeResponse(reason: "the rest of a later date", fields: [rest, later], step: .startOver),
    RangeResponse(reason: "two dates", fields: [rest, modified, later], step: .startOver),
    RangeResponse(
      reason: "a tag that was not there before",
      fields: [rest, modified, tag],
      step: .startOver
    ),
    RangeResponse(reason: "the whole of a later date", status: 200, fields: [later], step: .replace),
    RangeResponse(
      reason: "nothing is missing",
      status: 416,
      fields: [all, modified],
      length: nil,
      step: .complete
    ),
    RangeResponse(
      reason: "nothing is missing, but the date is later",
      status: 416,
      fields: [all, later],
      length: nil,
      step: .startOver
    ),
    RangeResponse(
      reason: "a refused range without a length",
      status: 416,
      fields: [all],
      length: nil,
      step: .startOver
    ),
  ]

  @Test(arguments: responses) func `no body with a possibly different date is appended`(
    row: RangeResponse
  ) throws {
    let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    let first = try ResponseHead(200, [("Accept-Ranges", "bytes"), date, Self.modified], length: row.length)
    let resumption = try #require(Resumption(first, kept: 100, now: 784_111_777))
    #expect(resumption.step(try ResponseHead(row.status, row.fields)) == row.step)
  }
}

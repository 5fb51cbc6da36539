import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

@Suite struct NegativeResponseTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var fields: String
    /// In seconds.
    ///
    /// Nil if the response does not say.
    var lifetime: Double?
    var because: String
    var testDescription: String { "\(status) | \(fields): \(because)" }
  }

  static let rows = [
    Row(status: 404, fields: "", lifetime: nil, because: "it says nothing"),
    Row(status: 404, fields: "Cache-Control: max-age=20", lifetime: 20, because: "as told"),
    Row(
      status: 403,
      fields: "Cache-Control: max-age=20",
      lifetime: 20,
      because: "the status does not matter"
    ),
    Row(status: 404, fields: "Cache-Control: max-age=999999", lifetime: 3600, because: "an hour at most"),
    Row(
      status: 404,
      fields: "Cache-Control: max-age=60\nAge: 50",
      lifetime: 10,
      because: "it was old when it arrived"
    ),
    Row(status: 404, fields: "Cache-Control: max-age=0", lifetime: 0, because: "it must not be stored"),
    Row(status: 404, fields: "Cache-Control: max-age=soon", lifetime: 0, because: "the value is invalid"),
    Row(
      status: 404,
      fields: "Cache-Control: no-store",
      lifetime: 0,
      because: "this must not be stored either"
    ),
    Row(
      status: 404,
      fields: "Cache-Control: no-cache",
      lifetime: 0,
      because: "it must be validated each time"
    ),
    Row(status: 404, fields: "Expires: 0", lifetime: 0, because: "an invalid date is in the past"),
    Row(status: 404, fields: "Expires: Sat, 01 Jan 2022 00:01:00 GMT", lifetime: 60, because: "until then"),
    Row(
      status: 404,
      fields: "Last-Modified: Fri, 31 Dec 2021 00:00:00 GMT",
      lifetime: nil,
      because: "that is about the error page"
    ),
  ]

  @Test(arguments: rows)
  func `a negative response is remembered as long as it says`(row: Row) throws {
    let lifetime = NegativeResponse.lifetime(try response(row.fields, status: row.status))
    #expect(lifetime == row.lifetime, "\(row.because)")
  }
}

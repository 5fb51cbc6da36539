import Testing

@testable import FeedimgService

/// The ranges that `Range` requests of a body of 100 bytes (RFC 9110 §14).
@Suite struct ByteRangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let field: String?
    let range: ResponseSelection
    let reason: String
    var testDescription: String { "\(field ?? "none"): \(reason)" }
  }

  private static let rows = [
    Row(field: nil, range: .full, reason: "no range is requested"),
    Row(field: "bytes=0-9", range: .partial(0..<10), reason: "both ends are included"),
    Row(field: "Bytes=0-9", range: .partial(0..<10), reason: "the unit is case-insensitive"),
    Row(field: "bytes=90-", range: .partial(90..<100), reason: "to the end"),
    Row(field: "bytes=90-1000", range: .partial(90..<100), reason: "at most to the end"),
    Row(field: "bytes=-10", range: .partial(90..<100), reason: "the last bytes"),
    Row(field: "bytes=-1000", range: .partial(0..<100), reason: "at most the whole body"),
    Row(
      field: "bytes=0-99999999999999999999",
      range: .partial(0..<100),
      reason: "a number that is too large"
    ),
    Row(field: "bytes=100-", range: .rangeNotSatisfiable, reason: "after the end"),
    Row(field: "bytes=99999999999999999999-", range: .rangeNotSatisfiable, reason: "far after the end"),
    Row(field: "bytes=-0", range: .rangeNotSatisfiable, reason: "an empty suffix"),
    Row(field: "bytes=9-0", range: .full, reason: "a reversed range is invalid"),
    Row(field: "bytes=0-9,20-29", range: .full, reason: "several ranges may be ignored"),
    Row(field: "bytes=-", range: .full, reason: "no number"),
    Row(field: "bytes=a-b", range: .full, reason: "no number either"),
    Row(field: "bytes=+1-2", range: .full, reason: "signs are not digits"),
    Row(field: "items=0-9", range: .full, reason: "another unit"),
  ]

  @Test(arguments: rows) func `a range is a part, the whole or unsatisfiable`(_ row: Row) {
    #expect(ResponseSelection(range: row.field, length: 100) == row.range)
  }

  @Test func `an empty body has no range`() {
    #expect(ResponseSelection(range: "bytes=0-", length: 0) == .rangeNotSatisfiable)
    #expect(ResponseSelection(range: "bytes=-1", length: 0) == .rangeNotSatisfiable)
  }
}

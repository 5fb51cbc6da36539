import Testing

@testable import FeedimgService

/// The ranges that `Range` requests of a body of 100 bytes (RFC 9110 §14).
@Suite struct ByteRangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let field: String?
    let range: ByteRange
    let reason: String
    var testDescription: String { "\(field ?? "none"): \(reason)" }
  }

  private static let rows = [
    Row(field: nil, range: .whole, reason: "no range is requested"),
    Row(field: "bytes=0-9", range: .part(0..<10), reason: "both ends are included"),
    Row(field: "Bytes=0-9", range: .part(0..<10), reason: "the unit is case-insensitive"),
    Row(field: "bytes=90-", range: .part(90..<100), reason: "to the end"),
    Row(field: "bytes=90-1000", range: .part(90..<100), reason: "at most to the end"),
    Row(field: "bytes=-10", range: .part(90..<100), reason: "the last bytes"),
    Row(field: "bytes=-1000", range: .part(0..<100), reason: "at most the whole body"),
    Row(field: "bytes=0-99999999999999999999", range: .part(0..<100), reason: "a number that is too large"),
    Row(field: "bytes=100-", range: .unsatisfiable, reason: "after the end"),
    Row(field: "bytes=99999999999999999999-", range: .unsatisfiable, reason: "far after the end"),
    Row(field: "bytes=-0", range: .unsatisfiable, reason: "an empty suffix"),
    Row(field: "bytes=9-0", range: .whole, reason: "a reversed range is invalid"),
    Row(field: "bytes=0-9,20-29", range: .whole, reason: "several ranges may be ignored"),
    Row(field: "bytes=-", range: .whole, reason: "no number"),
    Row(field: "bytes=a-b", range: .whole, reason: "no number either"),
    Row(field: "bytes=+1-2", range: .whole, reason: "signs are not digits"),
    Row(field: "items=0-9", range: .whole, reason: "another unit"),
  ]

  @Test(arguments: rows) func `a range is a part, the whole or unsatisfiable`(_ row: Row) {
    #expect(ByteRange(row.field, length: 100) == row.range)
  }

  @Test func `an empty body has no range`() {
    #expect(ByteRange("bytes=0-", length: 0) == .unsatisfiable)
    #expect(ByteRange("bytes=-1", length: 0) == .unsatisfiable)
  }
}

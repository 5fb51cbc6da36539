import Testing

@testable import FeedimgService

/// What `Range` asks for, of a body with 100 bytes (RFC 9110 §14).
@Suite struct ByteRangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let field: String?
    let range: ByteRange
    let reason: String
    var testDescription: String { "\(field ?? "none"): \(reason)" }
  }

  private static let rows = [
    Row(field: nil, range: .whole, reason: "no range is asked for"),
    Row(field: "bytes=0-9", range: .part(0..<10), reason: "both ends count"),
    Row(field: "Bytes=0-9", range: .part(0..<10), reason: "the case of the unit does not"),
    Row(field: "bytes=90-", range: .part(90..<100), reason: "to the end"),
    Row(field: "bytes=90-1000", range: .part(90..<100), reason: "no further than the end"),
    Row(field: "bytes=-10", range: .part(90..<100), reason: "the last ones"),
    Row(field: "bytes=-1000", range: .part(0..<100), reason: "no more than there are"),
    Row(field: "bytes=0-99999999999999999999", range: .part(0..<100), reason: "a number that does not fit"),
    Row(field: "bytes=100-", range: .unsatisfiable, reason: "behind the end"),
    Row(field: "bytes=99999999999999999999-", range: .unsatisfiable, reason: "far behind it"),
    Row(field: "bytes=-0", range: .unsatisfiable, reason: "none at all"),
    Row(field: "bytes=9-0", range: .whole, reason: "backwards is not understood"),
    Row(field: "bytes=0-9,20-29", range: .whole, reason: "several may be ignored"),
    Row(field: "bytes=-", range: .whole, reason: "no number"),
    Row(field: "bytes=a-b", range: .whole, reason: "no number either"),
    Row(field: "bytes=+1-2", range: .whole, reason: "signs are not digits"),
    Row(field: "items=0-9", range: .whole, reason: "another unit"),
  ]

  @Test(arguments: rows) func `a range is a part, the whole or nothing`(_ row: Row) {
    #expect(ByteRange(row.field, length: 100) == row.range)
  }

  @Test func `nothing can be asked for of an empty body`() {
    #expect(ByteRange("bytes=0-", length: 0) == .unsatisfiable)
    #expect(ByteRange("bytes=-1", length: 0) == .unsatisfiable)
  }
}

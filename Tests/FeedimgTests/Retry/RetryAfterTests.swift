import FeedimgModel
import Testing

@testable import FeedimgPipeline

struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private static let now = 784_111_777

  @Test(
    arguments: [
      ("120", nil, 120, "seconds"), ("0", nil, 0, "now"), ("99999999999999999999", nil, Int.max, "never"),
      ("Sun, 06 Nov 1994 08:50:37 GMT", nil, 60, "a date"),
      ("Sun, 06 Nov 1994 08:49:00 GMT", nil, 0, "long ago"),
      (
        "Sun, 06 Nov 1994 07:50:07 GMT", "Sun, 06 Nov 1994 07:49:37 GMT", 30,
        "a date of a server whose clock is an hour behind"
      ),
      ("Sun, 06 Nov 1994 08:50:37 GMT", "yesterday", 60, "an invalid Date beside it"),
      ("", nil, nil, "nothing"), ("-1", nil, nil, "a negative number"),
      ("soon", nil, nil, "neither a number nor a date"),
      ("1.5", nil, nil, "not a whole number"), ("1, 2", nil, nil, "two numbers"),
    ] as [(String, String?, Int?, String)]
  )
  func `the time to wait is read`(value: String, date: String?, expected: Int?, reason: String) {
    var fields = HTTPFields([HTTPFields.Field(name: "Retry-After", value: value)])
    if let date { fields.fields.append(HTTPFields.Field(name: "Date", value: date)) }
    #expect(RetryAfter.seconds(fields, now: Self.now) == expected, "\(reason)")
  }

  @Test func `without the field there is no wait`() {
    #expect(RetryAfter.seconds(HTTPFields(), now: Self.now) == nil)
  }
}

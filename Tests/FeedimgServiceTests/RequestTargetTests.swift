import Testing

@testable import FeedimgService

/// How paths and queries are parsed.
@Suite struct RequestTargetTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let path: String?
    var parameters: [String] = []
    let reason: String
    var testDescription: String { "`\(text)`: \(reason)" }
  }

  private static let rows = [
    Row(text: "/", path: "/", reason: "the root"),
    Row(
      text: "/v1/image?item=%7B%7D&a=b",
      path: "/v1/image",
      parameters: ["item={}", "a=b"],
      reason: "escapes"
    ),
    Row(text: "/a?b=c+d%2Be", path: "/a", parameters: ["b=c d+e"], reason: "`+` is a space, as in forms"),
    Row(
      text: "/a?b&c=&&=d",
      path: "/a",
      parameters: ["b=", "c=", "=d"],
      reason: "a missing value is empty"
    ),
    Row(text: "/a?b=c=d", path: "/a", parameters: ["b=c=d"], reason: "the first `=` divides"),
    Row(text: "/a?b=?/", path: "/a", parameters: ["b=?/"], reason: "the first `?` separates the query"),
    Row(text: "http://localhost/a?b=c", path: "/a", parameters: ["b=c"], reason: "absolute form"),
    Row(text: "HTTP://localhost", path: "/", reason: "absolute form without a path"),
    Row(
      text: "http://localhost?b=c",
      path: "/",
      parameters: ["b=c"],
      reason: "absolute form with only a query"
    ),
    Row(text: "/v1/../healthz", path: "/v1/../healthz", reason: "dots have no special meaning"),
    Row(text: "/%2e%2e/etc", path: "/%2e%2e/etc", reason: "escapes in a path are kept"),
    Row(text: "//v1", path: "//v1", reason: "an empty segment is a segment"),
    Row(text: "*", path: nil, reason: "no path"),
    Row(text: "example.org:443", path: nil, reason: "of a tunnel"),
    Row(text: "", path: nil, reason: "nothing"),
    Row(text: "/a?b=%", path: nil, reason: "an escape without digits"),
    Row(text: "/a?b=%zz", path: nil, reason: "an escape of other letters"),
    Row(text: "/a?b=%ff", path: nil, reason: "no UTF-8"),
  ]

  @Test(arguments: rows) func `a target has a path and parameters`(_ row: Row) {
    let target = RequestTarget(row.text)
    #expect(target?.path == row.path)
    #expect(target?.parameters.map { "\($0.name)=\($0.value)" } ?? [] == row.parameters)
  }
}

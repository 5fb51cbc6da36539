import FeedimgJSON
import LoopbackServer
import Testing

/// Response fields of a server that no client would accept.
@Suite(.timeLimit(.minutes(10))) struct OddFieldTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let line: String
    /// The values that the client receives, by name.
    ///
    /// Nil means none.
    let name: String
    let value: String?
    let reason: String
    var testDescription: String { reason }
  }

  private static let rows = [
    Row(line: "X-A: a\u{1}b", name: "X-A", value: "a b", reason: "a control character (RFC 9110 §5.5)"),
    Row(line: "X-A: a\u{7F}b", name: "X-A", value: "a b", reason: "the last control character"),
    Row(line: "X-A: a\tb", name: "X-A", value: "a\tb", reason: "a tab is not a control character"),
    Row(line: "X A: a", name: "X A", value: nil, reason: "a space in a name (RFC 9110 §5.6.2)"),
    Row(line: "X(A): a", name: "X(A)", value: nil, reason: "a bracket in a name"),
    Row(line: "X-\u{1}A: a", name: "X-\u{1}A", value: nil, reason: "a control character in a name"),
    Row(line: "X-!#A: a", name: "X-!#A", value: "a", reason: "punctuation that names may have"),
    Row(line: "X-A: \u{E4}", name: "X-A", value: "\u{E4}", reason: "letters beyond ASCII"),
  ]

  @Test(arguments: rows) func `an invalid field of a server does not fail the response`(_ row: Row) throws {
    let origin = try LoopbackServer { _ in
      let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(row.line)\r\nContent-Length: 5\r\n\r\n"
      return Reply([.send(Array("\(head)hello".utf8))])
    }
    let service = try ServiceRun(["--network=wifi"])
    // As it arrives, and from the store.
    for _ in 0..<2 {
      let response = try CurlResponse(
        of: try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))"])
      )
      #expect((response.status, response.text) == (200, "hello"))
      #expect(response[row.name] == row.value)
    }
    #expect(origin.log.requests.count == 1)
  }

  @Test func `a range at the end of all numbers does not end the service`() throws {
    let origin = try LoopbackServer { _ in
      let range = "bytes 9223372036854775806-9223372036854775806/*"
      return .response(206, [("Content-Range", range)], body: Array("ab".utf8))
    }
    let service = try ServiceRun(["--network=wifi"])
    let url = "url=\(origin.url("/a"))"
    let response = try CurlResponse(of: try service.request(["-G", "/v1/fetch", "--data-urlencode", url]))
    #expect((response.status, response.text) == (206, "ab"))
    #expect(try service.curl("/healthz").status == 200)
  }

  @Test func `an invalid text of a server appears in a note`() throws {
    let origin = try LoopbackServer { request in
      guard request.path == "/page" else { return .response(200, body: SampleImage.webp) }
      return .response(200, [("Content-Type", "text/\u{1}html")], body: Array("<p>".utf8))
    }
    let service = try ServiceRun(["--network=wifi"])
    let item = JSONObject([
      ("originalImage", .string(origin.url("/page"))), ("thumbnailImage", .string(origin.url("/b"))),
    ])
    let response = try service.curl("/v1/image", "--json", JSONValue.object(item).text(.compact))
    #expect((response.status, response["Feedimg-Image"]) == (200, "thumbnail"))
    #expect(response["Feedimg-Note"]?.contains("`text/ html`") == true)
  }
}

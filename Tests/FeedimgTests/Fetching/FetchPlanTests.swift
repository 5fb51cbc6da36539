import FeedimgHTTPCache
import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How the response store handles a request, row by row.
@Suite struct FetchPlanTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var why: String
    var request: [(String, String)] = []
    var isHead = false
    /// The fields of a response that was stored a hundred seconds ago.
    ///
    /// Nil means that nothing is stored.
    var stored: [(String, String)]?
    var hasOthers = false
    var plan: FetchPlan
    var testDescription: String { why }
  }

  private static let rows = [
    Row(why: "nothing is stored", plan: .fetch(.missing)),
    Row(why: "nothing is stored for this request", hasOthers: true, plan: .fetch(.otherVariants)),
    Row(
      why: "the request allows no contact with a server (only-if-cached)",
      request: [("Cache-Control", "only-if-cached")],
      plan: .refuse
    ),
    Row(
      why: "a range of an uncached response goes to its server",
      request: [("Range", "bytes=0-1")],
      plan: .pass(.missing, .none)
    ),
    Row(
      why: "so does a precondition",
      request: [("If-None-Match", "\"a\"")],
      plan: .pass(.missing, .none)
    ),
    Row(why: "the response to HEAD is not stored", isHead: true, plan: .pass(.missing, .none)),
    Row(
      why: "the response may not be stored at all",
      request: [("Cache-Control", "no-store")],
      plan: .pass(.missing, .none)
    ),
    Row(
      why: "it is fresh (RFC 9111 §4.2)",
      stored: [("Cache-Control", "max-age=101")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "a fresh response also serves HEAD",
      isHead: true,
      stored: [("Cache-Control", "max-age=101")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "and preconditions",
      request: [("If-None-Match", "\"a\""), ("Range", "bytes=0-1")],
      stored: [("Cache-Control", "max-age=101")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "it is stale",
      stored: [("Cache-Control", "max-age=100")],
      plan: .validate(.stale, .ifUnreachable)
    ),
    Row(
      why: "without freshness information a response is not fresh (strict mode)",
      stored: [],
      plan: .validate(.stale, .ifUnreachable)
    ),
    Row(
      why: "the server requires validation on each use (§5.2.2.4)",
      stored: [("Cache-Control", "no-cache, max-age=500")],
      plan: .validate(.request, .none)
    ),
    Row(
      why: "it must not be used stale (§5.2.2.2)",
      stored: [("Cache-Control", "max-age=1, must-revalidate")],
      plan: .validate(.stale, .none)
    ),
    Row(
      why: "the client requests validation (§5.2.1.4)",
      request: [("Cache-Control", "no-cache")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .none)
    ),
    Row(
      why: "the same with the older header field (§5.4)",
      request: [("Pragma", "no-cache")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .none)
    ),
    Row(
      why: "it is older than the client accepts (§5.2.1.1)",
      request: [("Cache-Control", "max-age=50")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .ifUnreachable)
    ),
    Row(
      why: "it does not stay fresh for long enough (§5.2.1.3)",
      request: [("Cache-Control", "min-fresh=500")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .ifUnreachable)
    ),
    Row(
      why: "the client accepts a stale response (§5.2.1.2)",
      request: [("Cache-Control", "max-stale")],
      stored: [("Cache-Control", "max-age=1")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "but the server forbids it",
      request: [("Cache-Control", "max-stale")],
      stored: [("Cache-Control", "max-age=1, must-revalidate")],
      plan: .validate(.stale, .none)
    ),
    Row(
      why: "only-if-cached, and the response is stale",
      request: [("Cache-Control", "only-if-cached")],
      stored: [("Cache-Control", "max-age=1")],
      plan: .refuse
    ),
    Row(
      why: "it may be used during revalidation (RFC 5861 §3)",
      stored: [("Cache-Control", "max-age=50, stale-while-revalidate=60")],
      plan: .reuse(revalidates: true)
    ),
    Row(
      why: "but not for longer",
      stored: [("Cache-Control", "max-age=50, stale-while-revalidate=40")],
      plan: .validate(.stale, .ifUnreachable)
    ),
    Row(
      why: "it may be used if revalidation fails (RFC 5861 §4)",
      stored: [("Cache-Control", "max-age=50, stale-if-error=60")],
      plan: .validate(.stale, .ifError)
    ),
    Row(
      why: "HEAD for a stale response",
      isHead: true,
      stored: [("Cache-Control", "max-age=1")],
      plan: .pass(.stale, .ifUnreachable)
    ),
    Row(
      why: "the new response may not be stored",
      request: [("Cache-Control", "no-store")],
      stored: [("Cache-Control", "max-age=1")],
      plan: .pass(.stale, .ifUnreachable)
    ),
    Row(
      why: "a precondition for a change goes to the server (RFC 9110 §13.1.1)",
      request: [("If-Match", "\"a\"")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .pass(.bypass, .none)
    ),
  ]

  @Test(arguments: rows) func `each request is handled as RFC 9111 requires`(row: Row) throws {
    let url = try ImageURL("http://a.example/")
    func fields(_ fields: [(String, String)]) -> HTTPFields {
      HTTPFields(fields.map { .init(name: $0, value: $1) })
    }
    let stored = row.stored.map {
      StoredResponse(
        head: ResponseHead(status: 200, fields: fields($0), url: url),
        requestedAt: 0,
        respondedAt: 0
      )
    }
    let request = FetchRequest(url, isHead: row.isHead, fields: fields(row.request), priority: .visible)
    #expect(FetchPlan(request, stored: stored, hasOthers: row.hasOthers, at: 100) == row.plan)
  }

  @Test func `header fields for the service or for its connection are not forwarded`() throws {
    let names = [
      "Host", "Connection", "X-Listed", "TE", "Origin", "Referer", "Sec-Fetch-Site", "Priority", "Accept",
      "X-Own",
    ]
    var fields = HTTPFields(names.map { .init(name: $0, value: "x") })
    fields.fields[1].value = "X-Listed"
    let request = FetchRequest(try ImageURL("http://a.example/"), fields: fields, priority: .visible)
    #expect(request.fields.fields.map(\.name) == ["Accept", "X-Own", "Accept-Encoding"])
    #expect(request.fields["Accept-Encoding"] == "identity")
  }
}

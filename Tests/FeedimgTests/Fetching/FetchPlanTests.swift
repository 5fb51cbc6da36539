import FeedimgCache
import FeedimgModel
import Testing

@testable import Feedimg

/// How the cache of `GET /v1/fetch` handles a request, row by row.
@Suite struct FetchPlanTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var why: String
    var request: [(String, String)] = []
    var isHead = false
    /// The fields of what was stored a hundred seconds ago; nil for nothing.
    var stored: [(String, String)]?
    var hasOthers = false
    var plan: FetchPlan
    var testDescription: String { why }
  }

  private static let rows = [
    Row(why: "nothing is stored", plan: .fetch(.missing)),
    Row(why: "nothing is stored for this request", hasOthers: true, plan: .fetch(.otherVariants)),
    Row(why: "nobody is to be asked", request: [("Cache-Control", "only-if-cached")], plan: .refuse),
    Row(
      why: "a part of what is not stored is for its server",
      request: [("Range", "bytes=0-1")],
      plan: .pass(.missing, .none)
    ),
    Row(
      why: "so is whether the client has it",
      request: [("If-None-Match", "\"a\"")],
      plan: .pass(.missing, .none)
    ),
    Row(why: "a head is not stored", isHead: true, plan: .pass(.missing, .none)),
    Row(
      why: "nothing of the response may be stored",
      request: [("Cache-Control", "no-store")],
      plan: .pass(.missing, .none)
    ),
    Row(
      why: "it is fresh (RFC 9111 §4.2)",
      stored: [("Cache-Control", "max-age=101")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "a fresh one tells heads as well",
      isHead: true,
      stored: [("Cache-Control", "max-age=101")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "and whether the client has it",
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
      why: "nothing is said of freshness, which is not fresh (strictly)",
      stored: [],
      plan: .validate(.stale, .ifUnreachable)
    ),
    Row(
      why: "the server wants to be asked always (§5.2.2.4)",
      stored: [("Cache-Control", "no-cache, max-age=500")],
      plan: .validate(.request, .none)
    ),
    Row(
      why: "it must not be used stale (§5.2.2.2)",
      stored: [("Cache-Control", "max-age=1, must-revalidate")],
      plan: .validate(.stale, .none)
    ),
    Row(
      why: "the client wants the server to be asked (§5.2.1.4)",
      request: [("Cache-Control", "no-cache")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .none)
    ),
    Row(
      why: "the same in the words of old (§5.4)",
      request: [("Pragma", "no-cache")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .none)
    ),
    Row(
      why: "it is older than the client wants (§5.2.1.1)",
      request: [("Cache-Control", "max-age=50")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .ifUnreachable)
    ),
    Row(
      why: "it is not fresh for long enough (§5.2.1.3)",
      request: [("Cache-Control", "min-fresh=500")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .validate(.request, .ifUnreachable)
    ),
    Row(
      why: "the client takes what is stale (§5.2.1.2)",
      request: [("Cache-Control", "max-stale")],
      stored: [("Cache-Control", "max-age=1")],
      plan: .reuse(revalidates: false)
    ),
    Row(
      why: "but not what the server forbids",
      request: [("Cache-Control", "max-stale")],
      stored: [("Cache-Control", "max-age=1, must-revalidate")],
      plan: .validate(.stale, .none)
    ),
    Row(
      why: "nobody is to be asked about what is stale",
      request: [("Cache-Control", "only-if-cached")],
      stored: [("Cache-Control", "max-age=1")],
      plan: .refuse
    ),
    Row(
      why: "it may be used while it is asked about (RFC 5861 §3)",
      stored: [("Cache-Control", "max-age=50, stale-while-revalidate=60")],
      plan: .reuse(revalidates: true)
    ),
    Row(
      why: "not for longer",
      stored: [("Cache-Control", "max-age=50, stale-while-revalidate=40")],
      plan: .validate(.stale, .ifUnreachable)
    ),
    Row(
      why: "it may be used if asking fails (RFC 5861 §4)",
      stored: [("Cache-Control", "max-age=50, stale-if-error=60")],
      plan: .validate(.stale, .ifError)
    ),
    Row(
      why: "a head of what is stale",
      isHead: true,
      stored: [("Cache-Control", "max-age=1")],
      plan: .pass(.stale, .ifUnreachable)
    ),
    Row(
      why: "news may not be stored",
      request: [("Cache-Control", "no-store")],
      stored: [("Cache-Control", "max-age=1")],
      plan: .pass(.stale, .ifUnreachable)
    ),
    Row(
      why: "a condition for a change is for the server (RFC 9110 §13.1.1)",
      request: [("If-Match", "\"a\"")],
      stored: [("Cache-Control", "max-age=500")],
      plan: .pass(.bypass, .none)
    ),
  ]

  @Test(arguments: rows) func `a request is answered as RFC 9111 has it`(row: Row) throws {
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

  @Test func `what is for the service alone or for its connection is not sent on`() throws {
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

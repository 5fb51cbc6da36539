import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

/// A time that is easy to count from: Sat, 01 Jan 2022 00:00:00 GMT.
let noon = 1_640_995_200.0

/// Reads `Name: value` lines.
func fields(_ text: String) -> HTTPFields {
  HTTPFields(
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      return HTTPFields.Field(name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
    }
  )
}

func response(
  _ text: String,
  status: Int = 200,
  requestedAt: Double = noon,
  respondedAt: Double = noon
) throws -> StoredResponse {
  StoredResponse(
    head: ResponseHead(status: status, fields: fields(text), url: try ImageURL("https://example.org/a.jpg")),
    requestedAt: requestedAt,
    respondedAt: respondedAt
  )
}

@Suite struct FreshnessTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var fields: String
    /// The request's `Cache-Control`.
    var request = ""
    /// The seconds since the response came.
    var after: Double
    var state: Freshness.State
    /// The beginning of the reason.
    var reason: String

    init(
      _ fields: String,
      request: String = "",
      after: Double,
      _ state: Freshness.State,
      _ reason: String
    ) {
      self.fields = fields
      self.request = request
      self.after = after
      self.state = state
      self.reason = reason
    }

    var testDescription: String { "\(fields) | \(request) | after \(Int(after)) s: \(state.rawValue)" }
  }

  static let lifetimes = [
    Row("Cache-Control: max-age=60", after: 59, .fresh, "max-age=60"),
    Row("Cache-Control: max-age=60", after: 60, .stale, "max-age=60"),
    Row("Cache-Control: max-age=\"60\"", after: 59, .fresh, "max-age=60"),
    Row("Cache-Control: MAX-AGE=60", after: 59, .fresh, "max-age=60"),
    Row("Cache-Control: max-age=0", after: 0, .stale, "max-age=0"),
    Row("Cache-Control: max-age=99999999999999999999", after: 2e9, .fresh, "max-age=2147483648"),
    Row("Cache-Control: max-age=soon", after: 0, .stale, "invalid freshness information"),
    Row("Cache-Control: max-age=-1", after: 0, .stale, "invalid freshness information"),
    Row("Cache-Control: max-age", after: 0, .stale, "invalid freshness information"),
    Row("Cache-Control: max-age=60, max-age=5", after: 30, .fresh, "max-age=60"),
    Row("Cache-Control: s-maxage=60", after: 0, .stale, "no freshness"),
    Row("Cache-Control: private, max-age=60", after: 30, .fresh, "max-age=60"),
    Row("Expires: Sat, 01 Jan 2022 00:01:00 GMT", after: 59, .fresh, "Expires, 60 s after Date"),
    Row("Expires: Sat, 01 Jan 2022 00:01:00 GMT", after: 60, .stale, "Expires, 60 s after Date"),
    Row("Expires: Saturday, 01-Jan-22 00:01:00 GMT", after: 59, .fresh, "Expires, 60 s after Date"),
    Row("Expires: Sat Jan  1 00:01:00 2022", after: 59, .fresh, "Expires, 60 s after Date"),
    Row("Expires: 0", after: 0, .stale, "invalid freshness information"),
    Row("Expires: Fri, 31 Dec 2021 00:00:00 GMT", after: 0, .stale, "Expires, 0 s after Date"),
    Row("Expires: Sat, 01 Jan 2022 00:01:00 GMT\nCache-Control: max-age=5", after: 10, .stale, "max-age=5"),
    Row(
      "Date: Fri, 31 Dec 2021 23:59:00 GMT\nExpires: Sat, 01 Jan 2022 00:01:00 GMT",
      after: 59,
      .fresh,
      "Expires, 120 s after Date"
    ),
    Row(
      "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT",
      after: 59,
      .fresh,
      "a tenth of the age at Last-Modified, 60 s"
    ),
    Row("Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT", after: 60, .stale, "a tenth of the age"),
    Row(
      "Last-Modified: Fri, 01 Jan 2010 00:00:00 GMT",
      after: 86_399,
      .fresh,
      "a tenth of the age at Last-Modified, 86400 s"
    ),
    Row("Last-Modified: Fri, 01 Jan 2010 00:00:00 GMT", after: 86_400, .stale, "a tenth of the age"),
    Row(
      "Last-Modified: Sun, 01 Jan 2023 00:00:00 GMT",
      after: 0,
      .stale,
      "a tenth of the age at Last-Modified, 0 s"
    ),
    Row("Last-Modified: yesterday", after: 0, .unspecified, "no freshness information"),
    Row("", after: 0, .unspecified, "no freshness information"),
    Row("ETag: \"a\"", after: 1e9, .unspecified, "no freshness information"),
    Row("Cache-Control: public", after: 0, .stale, "no freshness"),
  ]

  static let directives = [
    Row("Cache-Control: no-cache, max-age=60", after: 0, .mustRevalidate, "no-cache (RFC 9111 §5.2.2.4)"),
    Row("Cache-Control: no-cache=\"Set-Cookie\", max-age=60", after: 0, .mustRevalidate, "no-cache"),
    Row("Pragma: no-cache", after: 0, .mustRevalidate, "Pragma"),
    Row("Pragma: no-cache\nCache-Control: max-age=60", after: 0, .fresh, "max-age=60"),
    Row("Cache-Control: must-revalidate, max-age=60", after: 59, .fresh, "max-age=60"),
    Row("Cache-Control: must-revalidate, max-age=60", after: 60, .mustRevalidate, "must-revalidate"),
    Row("Cache-Control: proxy-revalidate, max-age=60", after: 60, .stale, "max-age=60"),
    Row(
      "Cache-Control: max-age=60, stale-while-revalidate=30",
      after: 89,
      .staleWhileRevalidate,
      "stale-while-revalidate=30"
    ),
    Row("Cache-Control: max-age=60, stale-while-revalidate=30", after: 90, .stale, "max-age=60"),
    Row(
      "Cache-Control: max-age=60, stale-if-error=300",
      after: 100,
      .staleIfError,
      "stale-if-error=300 (RFC 5861"
    ),
    Row(
      "Cache-Control: max-age=60, stale-while-revalidate=30, stale-if-error=300",
      after: 89,
      .staleWhileRevalidate,
      "stale-while-revalidate=30"
    ),
    Row(
      "Cache-Control: max-age=60, must-revalidate, stale-while-revalidate=30",
      after: 70,
      .mustRevalidate,
      "must-revalidate"
    ),
  ]

  static let requests = [
    Row(
      "Cache-Control: max-age=60",
      request: "no-cache",
      after: 0,
      .mustRevalidate,
      "no-cache in the request"
    ),
    Row("Cache-Control: max-age=60", request: "max-age=10", after: 11, .stale, "max-age=10 in the request"),
    Row("Cache-Control: max-age=60", request: "max-age=10", after: 10, .fresh, "max-age=60"),
    Row(
      "Cache-Control: max-age=60, must-revalidate",
      request: "max-age=10",
      after: 11,
      .stale,
      "max-age=10 in"
    ),
    Row(
      "Cache-Control: max-age=60, must-revalidate",
      request: "max-age=10",
      after: 61,
      .mustRevalidate,
      "max-age=10 in"
    ),
    Row("Cache-Control: max-age=60", request: "max-age=10, max-stale=5", after: 62, .fresh, "max-stale=5"),
    Row("Cache-Control: max-age=60", request: "min-fresh=20", after: 41, .stale, "min-fresh=20"),
    Row("Cache-Control: max-age=60", request: "min-fresh=20", after: 40, .fresh, "max-age=60"),
    Row("Cache-Control: max-age=60", request: "max-stale=20", after: 80, .fresh, "max-stale=20"),
    Row("Cache-Control: max-age=60", request: "max-stale=20", after: 81, .stale, "max-age=60"),
    Row("Cache-Control: max-age=60", request: "max-stale", after: 1e6, .fresh, "max-stale in the request"),
    Row("Cache-Control: max-age=60", request: "max-stale=much", after: 61, .stale, "max-age=60"),
    Row(
      "Cache-Control: max-age=60, must-revalidate",
      request: "max-stale",
      after: 61,
      .mustRevalidate,
      "must-revalidate"
    ),
    Row(
      "Cache-Control: max-age=60",
      request: "stale-if-error=9",
      after: 65,
      .staleIfError,
      "stale-if-error=9 in"
    ),
    Row(
      "Cache-Control: max-age=60, immutable",
      request: "max-age=0",
      after: 30,
      .fresh,
      "immutable (RFC 8246"
    ),
    Row("Cache-Control: max-age=60, immutable", request: "max-age=0", after: 61, .stale, "max-age=0 in"),
    Row(
      "Cache-Control: max-age=60, immutable",
      request: "no-cache",
      after: 30,
      .mustRevalidate,
      "no-cache in"
    ),
  ]

  @Test(arguments: lifetimes + directives + requests)
  func `a response is fresh as long as it says, or as its dates allow`(row: Row) throws {
    let freshness = Freshness(
      of: try response(row.fields),
      for: CacheControl(row.request),
      at: noon + row.after
    )
    #expect(freshness.state == row.state, "\(freshness.reason)")
    #expect(freshness.reason.hasPrefix(row.reason), "\(freshness.reason)")
  }

  @Test(arguments: [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
  func `a heuristic lifetime applies to these statuses`(status: Int) throws {
    let changed = "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT"
    #expect(Freshness(of: try response(changed, status: status), at: noon + 30).state == .fresh)
    #expect(Freshness(of: try response(changed, status: 302), at: noon + 30).state == .unspecified)
    #expect(Freshness(of: try response(changed, status: 500), at: noon + 30).state == .unspecified)
  }

  struct AgeRow: Sendable {
    var fields: String
    var requestedAt = noon
    var respondedAt = noon
    var now = noon
    var age: Double
    var because: String
  }

  static let ages = [
    AgeRow(fields: "", age: 0, because: "it has just arrived"),
    AgeRow(fields: "", now: noon + 10, age: 10, because: "it was stored 10 s ago"),
    AgeRow(fields: "Age: 7", now: noon + 10, age: 17, because: "another cache stored it for 7 s"),
    AgeRow(fields: "Age: 7", requestedAt: noon - 3, age: 10, because: "it may have been in transit for 3 s"),
    AgeRow(
      fields: "Date: Fri, 31 Dec 2021 23:59:00 GMT",
      age: 60,
      because: "its Date says that it is a minute old"
    ),
    AgeRow(
      fields: "Date: Fri, 31 Dec 2021 23:59:00 GMT\nAge: 90",
      age: 90,
      because: "the greater of the two ages counts"
    ),
    AgeRow(fields: "Date: Sat, 01 Jan 2022 00:05:00 GMT", age: 0, because: "its clock is ahead"),
    AgeRow(fields: "Age: -5", age: 0, because: "a negative age is invalid"),
    AgeRow(fields: "Age: 1.5", age: 0, because: "so is a fraction"),
    AgeRow(fields: "Age: 5, 9", age: 5, because: "of several the first counts, RFC 9111 §5.1"),
    AgeRow(fields: "", now: noon - 500, age: 0, because: "our clock has been set back"),
    AgeRow(fields: "", requestedAt: noon + 50, age: 0, because: "our clock was set back between the two"),
  ]

  @Test(arguments: ages)
  func `a response's age is the largest of its estimates`(row: AgeRow) throws {
    let stored = try response(row.fields, requestedAt: row.requestedAt, respondedAt: row.respondedAt)
    #expect(stored.age(at: row.now) == row.age, "\(row.because)")
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
  func `no time causes a crash`(time: Double) throws {
    for text in [
      "", "Cache-Control: max-age=3", "Expires: 0", "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT",
    ] {
      _ = Freshness(of: try response(text, requestedAt: time, respondedAt: time), at: noon)
      _ = Freshness(of: try response(text), at: time)
    }
  }
}

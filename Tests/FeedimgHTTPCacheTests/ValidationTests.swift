import FeedimgModel
import Glibc
import Testing

@testable import FeedimgHTTPCache

/// The fields of a 304.
private func told(_ fields: HTTPFields, at time: Double) throws -> StoredResponse {
  var notModified = try response("", status: 304, requestedAt: time, respondedAt: time)
  notModified.head.fields = fields
  return notModified
}

@Suite struct ValidationTests {
  @Test(arguments: [
    ("ETag: \"a\"", ["If-None-Match: \"a\""], "\"a\"", "a strong tag"),
    ("ETag: W/\"a\"", ["If-None-Match: W/\"a\""], nil, "a weak tag validates, but never joins ranges"),
    ("ETag: a", [], nil, "a tag needs quotes"),
    ("ETag: \"a\"b\"", [], nil, "and only at its ends"),
    ("ETag: \"\"", ["If-None-Match: \"\""], "\"\"", "an empty tag is valid"),
    (
      "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT", ["If-Modified-Since: Fri, 31 Dec 2021 23:50:00 GMT"],
      nil,
      "a date without Date is weak"
    ),
    (
      "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT\nDate: Fri, 31 Dec 2021 23:51:00 GMT",
      ["If-Modified-Since: Fri, 31 Dec 2021 23:50:00 GMT"], "Fri, 31 Dec 2021 23:50:00 GMT",
      "a date a minute before Date is strong"
    ),
    (
      "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT\nDate: Fri, 31 Dec 2021 23:50:59 GMT",
      ["If-Modified-Since: Fri, 31 Dec 2021 23:50:00 GMT"], nil, "a closer one is weak"
    ),
    ("Last-Modified: yesterday", [], nil, "an invalid date validates nothing"),
    (
      "ETag: W/\"a\"\nLast-Modified: Fri, 31 Dec 2021 23:50:00 GMT\nDate: Sat, 01 Jan 2022 00:00:00 GMT",
      ["If-None-Match: W/\"a\"", "If-Modified-Since: Fri, 31 Dec 2021 23:50:00 GMT"], nil,
      "both are sent, and a weak tag means that the date is weak too"
    ),
    (
      "ETag: a\nLast-Modified: Fri, 31 Dec 2021 23:50:00 GMT\nDate: Sat, 01 Jan 2022 00:00:00 GMT",
      ["If-Modified-Since: Fri, 31 Dec 2021 23:50:00 GMT"], nil,
      "an invalid tag also means that the date is weak"
    ),
    ("", [], nil, "there is no validator"),
  ])
  func `validators ask whether an image is the same, strong ones join ranges`(
    text: String,
    conditions: [String],
    range: String?,
    because: String
  ) throws {
    let validators = Validators(of: try response(text))
    #expect(validators.conditions.fields.map { "\($0.name): \($0.value)" } == conditions, "\(because)")
    #expect(validators.rangeCondition == range, "\(because)")
  }

  @Test(arguments: [
    ("ETag: \"a\"", "ETag: \"a\"", true, "the same tag"),
    ("ETag: \"a\"", "ETag: W/\"a\"", true, "tags of 304 are compared weakly, RFC 9110 §13.1.2"),
    ("ETag: \"a\"", "ETag: \"b\"", false, "another version"),
    ("", "ETag: \"b\"", false, "the request had no tag"),
    ("ETag: \"a\"", "", true, "it can only be about the requested version"),
    (
      "Last-Modified: Fri, 31 Dec 2021 23:50:00 GMT", "Last-Modified: Fri, 31 Dec 2021 23:50:01 GMT", false,
      "changed since"
    ),
  ])
  func `a 304 is about the version that it names`(
    stored: String,
    new: String,
    isMatch: Bool,
    because: String
  ) throws {
    #expect(Validators(of: try response(stored)).match(notModified: fields(new)) == isMatch, "\(because)")
  }

  @Test func `a 304 renews the fields and not the bytes`() throws {
    let stored = try response(
      """
      Content-Type: image/png
      Content-Length: 10
      Cache-Control: max-age=1
      Age: 500
      X-Old: kept
      """
    )
    let new = fields(
      """
      Content-Type: text/html
      Content-Length: 0
      cache-control: max-age=60
      X-New: added
      Connection: X-Hop
      X-Hop: dropped
      Transfer-Encoding: chunked
      """
    )
    let updated = stored.updated(by: try told(new, at: 2000))
    #expect(
      updated.head.fields
        == fields(
          """
          Content-Type: image/png
          Content-Length: 10
          X-Old: kept
          cache-control: max-age=60
          X-New: added
          """
        )
    )
    #expect(Freshness(of: updated, at: 2030).state == .fresh)
    #expect(updated.requestedAt == 2000)
  }

  @Test(arguments: [
    ("", "", "Accept: image/webp", true, "it does not vary"),
    ("Vary: *", "", "", false, "it varies by more than the request"),
    ("Vary: Accept, *", "Accept: a", "Accept: a", false, "so does a star among other names"),
    ("Vary: Accept", "Accept: image/webp", "accept: image/webp", true, "the same"),
    ("Vary: accept", "Accept: image/webp", "Accept: image/png", false, "another"),
    ("Vary: Accept", "", "", true, "absent in both"),
    ("Vary: Accept", "Accept: a", "", false, "absent in one"),
    ("Vary: Accept", "Accept: a,b", "Accept: a , b", true, "white space does not count"),
    ("Vary: Accept", "Accept: a\nAccept: b", "Accept: a, b", true, "lines of one name are one list"),
    ("Vary: Accept,\nVary: DPR", "Accept: a\nDPR: 2", "DPR: 1\nAccept: a", false, "every name counts"),
    ("Vary: , ,", "", "Accept: a", true, "empty elements name nothing"),
  ])
  func `a response serves requests with equal values of the fields in Vary`(
    vary: String,
    stored: String,
    request: String,
    isMatch: Bool,
    because: String
  ) {
    let vary = Vary(fields(vary))
    #expect(vary.matches(vary.select(from: fields(stored)), fields(request)) == isMatch, "\(because)")
  }

  @Test func `a 304 renews a stored image, also for the next process`() throws {
    let folder = try TestFolder()
    let clock = TestClock()
    let cache = DiskCache(folder, clock: clock)
    try cache.store(
      "a",
      picture(1),
      fields: fields("ETag: \"1\"\nCache-Control: max-age=60\nConnection: close")
    )
    let fresh = try #require(cache.response(for: "a", to: nil))
    #expect(Freshness(of: fresh, at: clock.now + 59).state == .fresh)
    #expect(fresh.head.fields["Connection"] == nil)
    clock += 100
    let new = fields("ETag: \"1\"\nCache-Control: max-age=300")
    let stored = try #require(cache.response(for: "a", to: nil))
    let renewed = try cache.refresh("a", validating: stored, response: told(new, at: clock.now))
    #expect(renewed != nil)
    #expect(cache.response(for: "a", to: nil) == renewed)
    cache.close()
    let response = try #require(DiskCache(folder, clock: clock).response(for: "a", to: nil))
    #expect(Freshness(of: response, at: clock.now + 299).state == .fresh)
    #expect(cache.bytes("a") == picture(1))
  }

  @Test func `a 304 about another version changes nothing`() throws {
    let folder = try TestFolder()
    let cache = DiskCache(folder)
    try cache.store("a", picture(1), fields: fields("ETag: \"1\""))
    let before = try #require(cache.response(for: "a", to: nil))
    #expect(try cache.refresh("a", validating: before, response: told(fields("ETag: \"2\""), at: 0)) == nil)
    #expect(try cache.refresh("b", validating: before, response: told(fields(""), at: 0)) == nil)
    #expect(cache.response(for: "a", to: nil) == before)
    #expect(cache.response(for: "b", to: nil) == nil)
  }

  @Test(arguments: [
    ("ETag: \"1\"\nCache-Control: max-age=90", 10 as Int?, Freshness.State.fresh, "the same tag"),
    ("ETag: \"2\"\nCache-Control: max-age=90", 10, .mustRevalidate, "another tag"),
    ("Cache-Control: max-age=90", 10, .fresh, "it has no tag, and the same length"),
    ("Cache-Control: max-age=90", 11, .mustRevalidate, "another length"),
    ("Cache-Control: max-age=90", nil, .fresh, "it has neither"),
  ])
  func `a response to HEAD renews the same version and makes another one stale`(
    text: String,
    length: Int?,
    standing: Freshness.State,
    because: String
  ) throws {
    let stored = try response("ETag: \"1\"\nCache-Control: max-age=1")
    var head = try told(fields(text), at: 1_640_995_300)
    (head.head.status, head.head.contentLength) = (200, length)
    let updated = stored.updated(byHead: head, size: 10)
    #expect(Freshness(of: updated, at: 1_640_995_310).state == standing, "\(because)")
    #expect(updated.head.fields["ETag"] == "\"1\"")
  }

  @Test func `a response to HEAD updates the stored one, except with another status`() throws {
    let folder = try TestFolder()
    let clock = TestClock(noon)
    let cache = DiskCache(folder, clock: clock)
    try cache.store("a", picture(1), fields: fields("ETag: \"1\"\nCache-Control: max-age=1"))
    let stored = try #require(cache.response(for: "a", to: nil))
    clock += 100
    var head = try told(fields("ETag: \"1\"\nCache-Control: max-age=90"), at: clock.now)
    for status in [404, 500, 206] {
      head.head.status = status
      #expect(try cache.refresh("a", validating: stored, response: head) == nil, "\(status)")
      #expect(cache.response(for: "a", to: nil) == stored)
    }
    head.head.status = 200
    head.head.contentLength = 1000
    let renewed = try #require(try cache.refresh("a", validating: stored, response: head))
    #expect(Freshness(of: renewed, at: clock.now + 80).state == .fresh)
    #expect(cache.response(for: "a", to: nil) == renewed)
    head.head.contentLength = 999
    let outdated = try #require(try cache.refresh("a", validating: renewed, response: head))
    #expect(Freshness(of: outdated, at: clock.now).state == .mustRevalidate)
    #expect(cache.bytes("a") == picture(1))
  }

  @Test func `a 304 does not apply to a version that was stored after the request`() throws {
    let folder = try TestFolder()
    let cache = DiskCache(folder)
    try cache.store("a", picture(1), fields: fields("ETag: \"1\""))
    let stored = try #require(cache.response(for: "a", to: nil))
    // Another process stores a version while the request is running.
    try cache.store("a", picture(2), fields: fields("ETag: \"2\"\nCache-Control: max-age=1"))
    let notModified = try told(fields("Cache-Control: max-age=9999"), at: 0)
    #expect(try cache.refresh("a", validating: stored, response: notModified) == nil)
    #expect(cache.response(for: "a", to: nil)?.head.fields["Cache-Control"] == "max-age=1")
  }
}

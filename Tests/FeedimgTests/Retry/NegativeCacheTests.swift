import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct NegativeCacheTests {
  private func status(_ status: Int, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server responded with \(status)", status: status, retryAfter: retryAfter)
  }

  @Test(arguments: [
    (404, 300.0, "gone"), (410, 300, "gone"), (403, 60, "it may be temporary"),
    (503, nil, "it concerns the host"),
  ])
  func `a negative response is remembered for a while`(code: Int, seconds: Double?, why: String) {
    var memory = NegativeCache()
    memory.note(status(code), of: .load("k"), at: .zero)
    guard let seconds else {
      #expect(memory.error(of: .load("k"), at: .zero) == nil, "\(why)")
      return
    }
    #expect(memory.error(of: .load("k"), at: .seconds(seconds - 1))?.status == code, "\(why)")
    #expect(memory.error(of: .load("k"), at: .seconds(seconds)) == nil, "\(why)")
  }

  @Test func `the remaining wait is reported`() {
    var memory = NegativeCache()
    memory.note(status(503, retryAfter: 30), of: .load("k"), at: .zero)
    #expect(memory.error(of: .load("k"), at: .milliseconds(10_500))?.retryAfter == 20)
    #expect(memory.error(of: .load("k"), at: .seconds(30)) == nil)
  }

  @Test func `a load after an expired failure is treated like any other`() {
    var memory = NegativeCache()
    memory.note(status(404), of: .load("k"), at: .zero)
    memory.forget(.load("k"))
    #expect(memory.error(of: .load("k"), at: .zero) == nil)
    memory.note(status(404), of: .load("k"), at: .zero)
    memory.reset()
    #expect(memory.error(of: .load("k"), at: .zero) == nil)
  }

  @Test func `a captive portal's page is soon forgotten`() {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(NegativeCache.time(of: page) == .seconds(60))
    page.cause = .captivePortal
    #expect(NegativeCache.time(of: page) == .seconds(10))
  }

  @Test func `the memory of failures is bounded`() {
    var memory = NegativeCache()
    for number in 0..<10_000 { memory.note(status(404), of: .load("k\(number)"), at: .milliseconds(number)) }
    #expect(memory.error(of: .load("k0"), at: .seconds(10)) == nil)
    #expect(memory.error(of: .load("k9999"), at: .seconds(10)) != nil)
  }

  // MARK: Revalidations

  @Test func `the pause after failed revalidations grows from 30 seconds to an hour`() {
    var memory = NegativeCache()
    var now = Duration.zero
    var pauses: [Duration] = []
    for _ in 0..<9 {
      memory.note(status(500), of: .revalidation("k"), at: now)
      guard let record = memory.records[.revalidation("k")] else { break }
      pauses.append(record.until - now)
      now = record.until
    }
    #expect(pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600].map { .seconds($0) })
    #expect(memory.error(of: .load("k"), at: .zero) == nil, "a load may send a request")
  }

  @Test func `a cancelled revalidation causes no pause, and one that an open circuit stops does not grow it`()
  {
    var memory = NegativeCache()
    let key = NegativeCache.Key.revalidation("k")
    memory.note(status(500), of: key, at: .zero)
    var rejected = status(503, retryAfter: 40)
    rejected.attribute(to: "http://a.example", .open)
    memory.note(rejected, of: key, at: .zero)
    #expect(memory.records[key]?.until == .seconds(40) && memory.records[key]?.failures == 1)
    memory.note(LoadError(.cancelled, message: "cancelled"), of: key, at: .zero)
    #expect(memory.error(of: key, at: .zero) == nil && memory.records[key]?.failures == 1)
  }

  // MARK: Logins

  @Test(
    arguments: [
      ("text/html; charset=utf-8", "", true), ("TEXT/HTML", "", true),
      ("image/jpeg", "<!DOCTYPE html><html>", true),
      (nil, "\n <html lang=en>", true), ("text/plain", "hello", false), ("application/json", "{}", false),
      (nil, "", false),
    ] as [(String?, String, Bool)]
  )
  func `a page in place of an image is recognised`(mediaType: String?, body: String, isPage: Bool) {
    #expect(CaptivePortal.isPage(mediaType: mediaType, prefix: Array(body.utf8)) == isPage)
  }
}

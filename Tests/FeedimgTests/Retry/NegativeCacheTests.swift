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
    memory.note(status(code), ofLoad: "k", at: .zero)
    guard let seconds else {
      #expect(memory.error(of: .load("k"), at: .zero) == nil, "\(why)")
      return
    }
    #expect(memory.error(of: .load("k"), at: .seconds(seconds - 1))?.status == code, "\(why)")
    #expect(memory.error(of: .load("k"), at: .seconds(seconds)) == nil, "\(why)")
  }

  @Test func `the remaining wait is reported`() {
    var memory = NegativeCache()
    memory.note(status(503, retryAfter: 30), ofLoad: "k", at: .zero)
    #expect(memory.error(of: .load("k"), at: .milliseconds(10_500))?.retryAfter == 20)
    #expect(memory.error(of: .load("k"), at: .seconds(30)) == nil)
  }

  @Test func `a load after an expired failure is treated like any other`() {
    var memory = NegativeCache()
    memory.note(status(404), ofLoad: "k", at: .zero)
    memory.forget(.load("k"))
    #expect(memory.error(of: .load("k"), at: .zero) == nil)
    memory.note(status(404), ofLoad: "k", at: .zero)
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
    for number in 0..<10_000 { memory.note(status(404), ofLoad: "k\(number)", at: .milliseconds(number)) }
    #expect(memory.error(of: .load("k0"), at: .seconds(10)) == nil)
    #expect(memory.error(of: .load("k9999"), at: .seconds(10)) != nil)
  }

  // MARK: Revalidations

  /// The pauses after a series of results, each noted when the pause before it is over.
  private func pauses(_ results: [LoadError?]) -> [Duration] {
    var (memory, now) = (NegativeCache(), Duration.zero)
    return results.map { error in
      memory.note(error, ofRevalidation: "k", at: now)
      let pause = (memory.records[.revalidation("k")]?.until ?? now) - now
      now += pause
      return pause
    }
  }

  @Test func `the pause after failed revalidations grows from 30 seconds to an hour`() {
    let seconds = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    #expect(pauses(Array(repeating: status(500), count: 9)) == seconds.map { .seconds($0) })
    #expect(pauses([status(404), status(503, retryAfter: 7200)]) == [.seconds(300), .seconds(3600)])
  }

  @Test func `only requests that were sent and failed grow the pause`() {
    var opening = status(503)
    opening.attribute(to: "http://a.example", .open)
    var rejected = status(503, retryAfter: 40)
    rejected.attribute(to: "http://a.example", .rejected)
    var probing = status(503)
    probing.attribute(to: "http://a.example", .rejected)
    let cancelled = LoadError(.cancelled, message: "cancelled")
    let results = [status(500), opening, rejected, probing, cancelled, status(500), nil, status(500)]
    #expect(pauses(results) == [30, 60, 40, 10, 0, 120, 10, 30].map { .seconds($0) })
  }

  @Test func `a failed revalidation does not stop a load`() {
    var memory = NegativeCache()
    memory.note(status(404), ofRevalidation: "k", at: .zero)
    #expect(memory.error(of: .load("k"), at: .zero) == nil)
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

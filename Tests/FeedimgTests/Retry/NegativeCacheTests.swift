import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct NegativeCacheTests {
  private let broken = LoadError(.connection, message: "broken")
  private var random = SplitMix(state: 1)

  private func status(_ status: Int, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server responded with \(status)", status: status, retryAfter: retryAfter)
  }

  // MARK: Hosts

  @Test mutating func `five failures in a row open a host's circuit`() {
    var breaker = CircuitBreaker()
    for _ in 0..<4 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .zero) == .admitted)
    breaker.failed("h", broken, at: .zero, using: &random)
    guard case .open(let wait, _) = breaker.admit("h", at: .zero) else {
      Issue.record("still asked")
      return
    }
    #expect(wait >= .seconds(1) && wait <= .seconds(2))
    #expect(breaker.admit("other", at: .zero) == .admitted)
  }

  @Test mutating func `a response in between resets the count`() {
    var breaker = CircuitBreaker()
    for _ in 0..<10 {
      for _ in 0..<4 { breaker.failed("h", broken, at: .zero, using: &random) }
      breaker.responded("h")
    }
    #expect(breaker.admit("h", at: .zero) == .admitted)
  }

  @Test
  mutating func
    `after the cooldown one load probes, and its failure doubles the wait, at most to five minutes`()
  {
    var breaker = CircuitBreaker()
    var now = Duration.zero
    for _ in 0..<5 { breaker.failed("h", broken, at: now, using: &random) }
    var waits: [Duration] = []
    for _ in 0..<12 {
      guard case .open(let wait, _) = breaker.admit("h", at: now) else {
        Issue.record("no load waits")
        return
      }
      waits.append(wait)
      now += wait
      #expect(breaker.admit("h", at: now) == .admitted)
      #expect(breaker.admit("h", at: now) == .probing, "only one load probes")
      breaker.failed("h", broken, isProbe: true, at: now, using: &random)
    }
    for (number, wait) in waits.enumerated() {
      let most = min(Duration.seconds(300), .seconds(2) * (1 << number))
      #expect(wait >= most * 0.5 && wait <= most)
    }
    breaker.responded("h")
    #expect(breaker.admit("h", at: now) == .admitted)
  }

  @Test mutating func `a query whether a host may be used is not a probe`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    for _ in 0..<3 { #expect(breaker.admission("h", at: .seconds(2)) == .admitted) }
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
    #expect(breaker.admission("h", at: .seconds(2)) == .probing)
  }

  @Test
  mutating func `a half-open host that begins to respond serves all, and waits longer if it then fails`() {
    var breaker = CircuitBreaker()
    breaker.probeResponded("h")
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    breaker.probeResponded("h")
    #expect(breaker.admit("h", at: .zero) != .admitted, "no load has probed")
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
    #expect(breaker.isOpenForFailures("h"))
    breaker.probeResponded("h")
    for _ in 0..<3 { #expect(breaker.admit("h", at: .seconds(2)) == .admitted) }
    #expect(!breaker.isOpenForFailures("h"), "a load that fails now may retry")
    breaker.failed("h", broken, at: .seconds(2), using: &random)
    guard case .open(let wait, _) = breaker.admit("h", at: .seconds(2)) else {
      Issue.record("still asked")
      return
    }
    #expect(wait >= .seconds(2) && wait <= .seconds(4))
    #expect(breaker.admit("h", at: .seconds(6)) == .admitted)
    breaker.probeResponded("h")
    breaker.responded("h")
    for _ in 0..<4 { breaker.failed("h", broken, at: .seconds(6), using: &random) }
    #expect(breaker.admit("h", at: .seconds(6)) == .admitted, "a complete response resets the count")
  }

  @Test mutating func `many simultaneous failures start the first cooldown only once`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
  }

  @Test mutating func `a cancelled probe lets the next load probe`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .seconds(5)) == .admitted)
    breaker.probeCancelled("h")
    #expect(breaker.admit("h", at: .seconds(5)) == .admitted)
  }

  @Test(arguments: [(7, 7), (0, 0), (1_000_000, 3600), (Int.max, 3600)])
  mutating func `Retry-After opens the circuit at once, for at most an hour`(
    asked: Int,
    seconds: Int
  ) {
    var breaker = CircuitBreaker()
    breaker.failed("h", status(503, retryAfter: asked), at: .zero, using: &random)
    let error = status(503, retryAfter: asked)
    let expected: CircuitBreaker.Admission = seconds == 0 ? .admitted : .open(.seconds(seconds), error)
    #expect(breaker.admit("h", at: .zero) == expected)
  }

  @Test mutating func `attempts of one load count once, unless the server sends Retry-After`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 { breaker.failed("h", status(503), isRepeated: true, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .zero) == .admitted)
    breaker.failed("h", status(503, retryAfter: 7), isRepeated: true, at: .zero, using: &random)
    #expect(breaker.admit("h", at: .zero) == .open(.seconds(7), status(503, retryAfter: 7)))
    #expect(!breaker.isOpenForFailures("h"), "the load that was asked to come back may")
  }

  @Test mutating func `a load that will retry lets others probe meanwhile`() {
    var breaker = CircuitBreaker()
    breaker.failed("h", status(503, retryAfter: 1), at: .zero, using: &random)
    #expect(breaker.admit("h", at: .seconds(1)) == .admitted)
    #expect(breaker.admit("h", at: .seconds(1)) == .probing)
    breaker.failed("h", broken, isProbe: true, isRepeated: true, at: .seconds(1), using: &random)
    #expect(breaker.admit("h", at: .seconds(1)) == .admitted)
  }

  @Test(arguments: [
    ("https://x.example/a?b#c", "https://x.example"), ("HTTP://X.example:80/a", "http://x.example"),
    ("http://x.example:8080", "http://x.example:8080"), ("http://u:p@x.example/a@b", "http://x.example"),
    ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443"),
    ("http://x.example?a=/b@c", "http://x.example"),
  ])
  func `servers differ by scheme, host and port`(url: String, origin: String) throws {
    #expect(try ImageURL(url).origin == origin)
  }

  @Test mutating func `on another network every circuit is closed`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    breaker.reset()
    #expect(breaker.admit("h", at: .zero) == .admitted)
  }

  @Test mutating func `the memory of failing hosts is bounded`() {
    var breaker = CircuitBreaker()
    for number in 0..<5000 {
      for _ in 0..<5 { breaker.failed("h\(number)", broken, at: .seconds(number), using: &random) }
    }
    #expect(breaker.admit("h0", at: .seconds(5000)) == .admitted)
    #expect(breaker.admit("h4999", at: .seconds(4999)) != .admitted)
  }

  @Test(arguments: [(404, false), (500, true), (429, true), (501, false), (503, true), (403, false)])
  func `a response about one image does not count against its host`(code: Int, counts: Bool) {
    #expect(CircuitBreaker.counts(status(code)) == counts)
  }

  // MARK: Images

  @Test(arguments: [
    (404, 300.0, "gone"), (410, 300, "gone"), (403, 60, "it may be temporary"),
    (503, nil, "it concerns the host"),
  ])
  func `a negative response is remembered for a while`(code: Int, seconds: Double?, why: String) {
    var memory = NegativeCache()
    memory.note(status(code), of: "k", at: .zero)
    guard let seconds else {
      #expect(memory.error(of: "k", at: .zero) == nil, "\(why)")
      return
    }
    #expect(memory.error(of: "k", at: .seconds(seconds - 1))?.status == code, "\(why)")
    #expect(memory.error(of: "k", at: .seconds(seconds)) == nil, "\(why)")
  }

  @Test func `the remaining wait is reported`() {
    var memory = NegativeCache()
    memory.note(status(503, retryAfter: 30), of: "k", at: .zero)
    #expect(memory.error(of: "k", at: .milliseconds(10_500))?.retryAfter == 20)
    #expect(memory.error(of: "k", at: .seconds(30)) == nil)
  }

  @Test func `a load after an expired failure is treated like any other`() {
    var memory = NegativeCache()
    memory.note(status(404), of: "k", at: .zero)
    memory.forget("k")
    #expect(memory.error(of: "k", at: .zero) == nil)
    memory.note(status(404), of: "k", at: .zero)
    memory.reset()
    #expect(memory.error(of: "k", at: .zero) == nil)
  }

  @Test func `a captive portal's page is soon forgotten`() {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(NegativeCache.time(of: page) == .seconds(60))
    page.suspectsCaptivePortal = true
    #expect(NegativeCache.time(of: page) == .seconds(10))
  }

  @Test func `the memory of failures is bounded`() {
    var memory = NegativeCache()
    for number in 0..<10_000 { memory.note(status(404), of: "k\(number)", at: .milliseconds(number)) }
    #expect(memory.error(of: "k0", at: .seconds(10)) == nil)
    #expect(memory.error(of: "k9999", at: .seconds(10)) != nil)
  }

  // MARK: The network

  @Test func `a network without responses counts as offline, with a probe now and then`() {
    var network = NetworkLiveness()
    #expect(network.failed("a", begun: .zero, at: .zero) == false)
    #expect(network.failed("b", begun: .zero, at: .zero) == false)
    #expect(network.failed("a", begun: .zero, at: .zero) == false)
    #expect(!network.isOffline(at: .zero))
    #expect(network.failed("a", begun: .zero, at: .zero) == true)
    #expect(network.isOffline(at: .zero))
    #expect(network.probe(at: .seconds(2)) == .seconds(3))
    #expect(!network.isOffline(at: .seconds(5)))
    let probe = network.began(at: .seconds(5))
    #expect(network.isOffline(at: .seconds(5)))
    let isNews = network.failed("a", begun: .seconds(5), probe: probe, at: .seconds(6))
    #expect(!isNews)
    #expect(network.probe(at: .seconds(6)) == .seconds(10))
    #expect(network.responded(isImage: false, at: .seconds(6)) == true)
    #expect(!network.isOffline(at: .seconds(6)))
  }

  @Test func `one host that is down does not make the network dead`() {
    var network = NetworkLiveness()
    for _ in 0..<100 { #expect(network.failed("a", begun: .zero, at: .zero) == false) }
    #expect(!network.isOffline(at: .zero))
  }

  @Test func `a response, or another network, resets the count`() {
    var network = NetworkLiveness()
    for host in ["a", "b", "c"] { _ = network.failed(host, begun: .zero, at: .zero) }
    #expect(network.responded(isImage: false, at: .zero) == false)
    let later = Duration.seconds(3)
    for host in ["a", "b", "c"] { _ = network.failed(host, begun: later, at: later) }
    #expect(!network.isDead)
    _ = network.failed("d", begun: later, at: later)
    #expect(network.isDead)
    network.reset()
    #expect(!network.isDead)
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

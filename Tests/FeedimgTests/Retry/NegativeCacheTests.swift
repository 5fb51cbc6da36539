import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct NegativeCacheTests {
  private let broken = LoadError(.connection, message: "broken")
  private var random = SplitMix(state: 1)

  private func status(_ status: Int, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server answered \(status)", status: status, retryAfter: retryAfter)
  }

  // MARK: Hosts

  @Test mutating func `after five failures in a row a host is left alone`() {
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

  @Test mutating func `an answer in between begins the count anew`() {
    var breaker = CircuitBreaker()
    for _ in 0..<10 {
      for _ in 0..<4 { breaker.failed("h", broken, at: .zero, using: &random) }
      breaker.responded("h")
    }
    #expect(breaker.admit("h", at: .zero) == .admitted)
  }

  @Test mutating func `after the wait one tries, and its failure doubles the wait up to five minutes`() {
    var breaker = CircuitBreaker()
    var now = Duration.zero
    for _ in 0..<5 { breaker.failed("h", broken, at: now, using: &random) }
    var waits: [Duration] = []
    for _ in 0..<12 {
      guard case .open(let wait, _) = breaker.admit("h", at: now) else {
        Issue.record("nobody waits")
        return
      }
      waits.append(wait)
      now += wait
      #expect(breaker.admit("h", at: now) == .admitted)
      #expect(breaker.admit("h", at: now) == .probing, "only one tries")
      breaker.failed("h", broken, isProbe: true, at: now, using: &random)
    }
    for (number, wait) in waits.enumerated() {
      let most = min(Duration.seconds(300), .seconds(2) * (1 << number))
      #expect(wait >= most * 0.5 && wait <= most)
    }
    breaker.responded("h")
    #expect(breaker.admit("h", at: now) == .admitted)
  }

  @Test mutating func `a look at a host that may be tried again is no trial`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    for _ in 0..<3 { #expect(breaker.admission("h", at: .seconds(2)) == .admitted) }
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
    #expect(breaker.admission("h", at: .seconds(2)) == .probing)
  }

  @Test mutating func `all ask a host that begins to answer, and leave it alone for longer if that is all`() {
    var breaker = CircuitBreaker()
    breaker.probeAnswered("h")
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    breaker.probeAnswered("h")
    #expect(breaker.admit("h", at: .zero) != .admitted, "nobody has tried")
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
    #expect(breaker.isOpenForFailures("h"))
    breaker.probeAnswered("h")
    for _ in 0..<3 { #expect(breaker.admit("h", at: .seconds(2)) == .admitted) }
    #expect(!breaker.isOpenForFailures("h"), "who fails now may try again")
    breaker.failed("h", broken, at: .seconds(2), using: &random)
    guard case .open(let wait, _) = breaker.admit("h", at: .seconds(2)) else {
      Issue.record("still asked")
      return
    }
    #expect(wait >= .seconds(2) && wait <= .seconds(4))
    #expect(breaker.admit("h", at: .seconds(6)) == .admitted)
    breaker.probeAnswered("h")
    breaker.responded("h")
    for _ in 0..<4 { breaker.failed("h", broken, at: .seconds(6), using: &random) }
    #expect(breaker.admit("h", at: .seconds(6)) == .admitted, "a whole answer begins the count anew")
  }

  @Test mutating func `many that fail at once make nobody wait longer than the first wait`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
  }

  @Test mutating func `a try that is cancelled lets the next one try`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .seconds(5)) == .admitted)
    breaker.probeCancelled("h")
    #expect(breaker.admit("h", at: .seconds(5)) == .admitted)
  }

  @Test(arguments: [(7, 7), (0, 0), (1_000_000, 3600), (Int.max, 3600)])
  mutating func `a server that asks to be left alone is, at once and for an hour at most`(
    asked: Int,
    seconds: Int
  ) {
    var breaker = CircuitBreaker()
    breaker.failed("h", status(503, retryAfter: asked), at: .zero, using: &random)
    let error = status(503, retryAfter: asked)
    let expected: CircuitBreaker.Admission = seconds == 0 ? .admitted : .open(.seconds(seconds), error)
    #expect(breaker.admit("h", at: .zero) == expected)
  }

  @Test mutating func `tries of one load are not failures of their own, unless the server asks for peace`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 { breaker.failed("h", status(503), isRepeated: true, at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .zero) == .admitted)
    breaker.failed("h", status(503, retryAfter: 7), isRepeated: true, at: .zero, using: &random)
    #expect(breaker.admit("h", at: .zero) == .open(.seconds(7), status(503, retryAfter: 7)))
    #expect(!breaker.isOpenForFailures("h"), "who is asked to come back may")
  }

  @Test mutating func `one who tries and will try again lets others try meanwhile`() {
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
  func `servers are told apart by scheme, host and port`(url: String, origin: String) throws {
    #expect(try ImageURL(url).origin == origin)
  }

  @Test mutating func `on another network every host is asked again`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    breaker.reset()
    #expect(breaker.admit("h", at: .zero) == .admitted)
  }

  @Test mutating func `thousands of hosts that fail are not all remembered`() {
    var breaker = CircuitBreaker()
    for number in 0..<5000 {
      for _ in 0..<5 { breaker.failed("h\(number)", broken, at: .seconds(number), using: &random) }
    }
    #expect(breaker.admit("h0", at: .seconds(5000)) == .admitted)
    #expect(breaker.admit("h4999", at: .seconds(4999)) != .admitted)
  }

  @Test(arguments: [(404, false), (500, true), (429, true), (501, false), (503, true), (403, false)])
  func `an answer about one image does not speak against its host`(code: Int, counts: Bool) {
    #expect(CircuitBreaker.counts(status(code)) == counts)
  }

  // MARK: Images

  @Test(arguments: [
    (404, 300.0, "gone"), (410, 300, "gone"), (403, 60, "perhaps a matter of time"),
    (503, nil, "the host's matter"),
  ])
  func `a negative answer is believed for a time`(code: Int, seconds: Double?, why: String) {
    var memory = NegativeCache()
    memory.note(status(code), of: "k", at: .zero)
    guard let seconds else {
      #expect(memory.error(of: "k", at: .zero) == nil, "\(why)")
      return
    }
    #expect(memory.error(of: "k", at: .seconds(seconds - 1))?.status == code, "\(why)")
    #expect(memory.error(of: "k", at: .seconds(seconds)) == nil, "\(why)")
  }

  @Test func `what asks for a wait is told how much of it is left`() {
    var memory = NegativeCache()
    memory.note(status(503, retryAfter: 30), of: "k", at: .zero)
    #expect(memory.error(of: "k", at: .milliseconds(10_500))?.retryAfter == 20)
    #expect(memory.error(of: "k", at: .seconds(30)) == nil)
  }

  @Test func `an image that could not be had once is no worse than any other later`() {
    var memory = NegativeCache()
    memory.note(status(404), of: "k", at: .zero)
    memory.forget("k")
    #expect(memory.error(of: "k", at: .zero) == nil)
    memory.note(status(404), of: "k", at: .zero)
    memory.reset()
    #expect(memory.error(of: "k", at: .zero) == nil)
  }

  @Test func `the page of a network that wants a login is forgotten soon`() {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(NegativeCache.time(of: page) == .seconds(60))
    page.suspectsCaptivePortal = true
    #expect(NegativeCache.time(of: page) == .seconds(10))
  }

  @Test func `memory of failures is bounded`() {
    var memory = NegativeCache()
    for number in 0..<10_000 { memory.note(status(404), of: "k\(number)", at: .milliseconds(number)) }
    #expect(memory.error(of: "k0", at: .seconds(10)) == nil)
    #expect(memory.error(of: "k9999", at: .seconds(10)) != nil)
  }

  // MARK: The network

  @Test func `a network on which nothing answers counts as offline, and one tries now and then`() {
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
    #expect(network.heard(isImage: false, at: .seconds(6)) == true)
    #expect(!network.isOffline(at: .seconds(6)))
  }

  @Test func `one host that is down is not the network`() {
    var network = NetworkLiveness()
    for _ in 0..<100 { #expect(network.failed("a", begun: .zero, at: .zero) == false) }
    #expect(!network.isOffline(at: .zero))
  }

  @Test func `an answer, or another network, begins anew`() {
    var network = NetworkLiveness()
    for host in ["a", "b", "c"] { _ = network.failed(host, begun: .zero, at: .zero) }
    #expect(network.heard(isImage: false, at: .zero) == false)
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

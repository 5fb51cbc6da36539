import FeedimgModel
import Testing

@testable import Feedimg

@Suite struct FailureMemoryTests {
  private let broken = LoadError(.connection, message: "broken")
  private var random = SplitMix(state: 1)

  private func status(_ status: Int, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server answered \(status)", status: status, retryAfter: retryAfter)
  }

  // MARK: Hosts

  @Test mutating func `after five failures in a row a host is left alone`() {
    var breaker = CircuitBreaker()
    for _ in 0..<4 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.verdict("h", at: .zero) == .ask)
    breaker.failed("h", broken, at: .zero, using: &random)
    guard case .leaveAlone(let wait, _) = breaker.verdict("h", at: .zero) else {
      Issue.record("still asked")
      return
    }
    #expect(wait >= .seconds(1) && wait <= .seconds(2))
    #expect(breaker.verdict("other", at: .zero) == .ask)
  }

  @Test mutating func `an answer in between begins the count anew`() {
    var breaker = CircuitBreaker()
    for _ in 0..<10 {
      for _ in 0..<4 { breaker.failed("h", broken, at: .zero, using: &random) }
      breaker.answered("h")
    }
    #expect(breaker.verdict("h", at: .zero) == .ask)
  }

  @Test mutating func `after the wait one tries, and its failure doubles the wait up to five minutes`() {
    var breaker = CircuitBreaker()
    var now = Duration.zero
    for _ in 0..<5 { breaker.failed("h", broken, at: now, using: &random) }
    var waits: [Duration] = []
    for _ in 0..<12 {
      guard case .leaveAlone(let wait, _) = breaker.verdict("h", at: now) else {
        Issue.record("nobody waits")
        return
      }
      waits.append(wait)
      now += wait
      #expect(breaker.verdict("h", at: now) == .ask)
      #expect(breaker.verdict("h", at: now) == .awaitTrial, "only one tries")
      breaker.failed("h", broken, isTrial: true, at: now, using: &random)
    }
    for (number, wait) in waits.enumerated() {
      let most = min(Duration.seconds(300), .seconds(2) * (1 << number))
      #expect(wait >= most * 0.5 && wait <= most)
    }
    breaker.answered("h")
    #expect(breaker.verdict("h", at: now) == .ask)
  }

  @Test mutating func `a look at a host that may be tried again is no trial`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    for _ in 0..<3 { #expect(breaker.outlook("h", at: .seconds(2)) == .ask) }
    #expect(breaker.verdict("h", at: .seconds(2)) == .ask)
    #expect(breaker.outlook("h", at: .seconds(2)) == .awaitTrial)
  }

  @Test mutating func `all ask a host that begins to answer, and leave it alone for longer if that is all`() {
    var breaker = CircuitBreaker()
    breaker.trialAnswered("h")
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    breaker.trialAnswered("h")
    #expect(breaker.verdict("h", at: .zero) != .ask, "nobody has tried")
    #expect(breaker.verdict("h", at: .seconds(2)) == .ask)
    #expect(breaker.doubts("h"))
    breaker.trialAnswered("h")
    for _ in 0..<3 { #expect(breaker.verdict("h", at: .seconds(2)) == .ask) }
    #expect(!breaker.doubts("h"), "who fails now may try again")
    breaker.failed("h", broken, at: .seconds(2), using: &random)
    guard case .leaveAlone(let wait, _) = breaker.verdict("h", at: .seconds(2)) else {
      Issue.record("still asked")
      return
    }
    #expect(wait >= .seconds(2) && wait <= .seconds(4))
    #expect(breaker.verdict("h", at: .seconds(6)) == .ask)
    breaker.trialAnswered("h")
    breaker.answered("h")
    for _ in 0..<4 { breaker.failed("h", broken, at: .seconds(6), using: &random) }
    #expect(breaker.verdict("h", at: .seconds(6)) == .ask, "a whole answer begins the count anew")
  }

  @Test mutating func `many that fail at once make nobody wait longer than the first wait`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.verdict("h", at: .seconds(2)) == .ask)
  }

  @Test mutating func `a try that is cancelled lets the next one try`() {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.failed("h", broken, at: .zero, using: &random) }
    #expect(breaker.verdict("h", at: .seconds(5)) == .ask)
    breaker.gaveUp("h")
    #expect(breaker.verdict("h", at: .seconds(5)) == .ask)
  }

  @Test(arguments: [(7, 7), (0, 0), (1_000_000, 3600), (Int.max, 3600)])
  mutating func `a server that asks to be left alone is, at once and for an hour at most`(
    asked: Int,
    seconds: Int
  ) {
    var breaker = CircuitBreaker()
    breaker.failed("h", status(503, retryAfter: asked), at: .zero, using: &random)
    let error = status(503, retryAfter: asked)
    let expected: CircuitBreaker.Verdict = seconds == 0 ? .ask : .leaveAlone(.seconds(seconds), error)
    #expect(breaker.verdict("h", at: .zero) == expected)
  }

  @Test mutating func `tries of one load are not failures of their own, unless the server asks for peace`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 { breaker.failed("h", status(503), isAgain: true, at: .zero, using: &random) }
    #expect(breaker.verdict("h", at: .zero) == .ask)
    breaker.failed("h", status(503, retryAfter: 7), isAgain: true, at: .zero, using: &random)
    #expect(breaker.verdict("h", at: .zero) == .leaveAlone(.seconds(7), status(503, retryAfter: 7)))
    #expect(!breaker.doubts("h"), "who is asked to come back may")
  }

  @Test mutating func `one who tries and will try again lets others try meanwhile`() {
    var breaker = CircuitBreaker()
    breaker.failed("h", status(503, retryAfter: 1), at: .zero, using: &random)
    #expect(breaker.verdict("h", at: .seconds(1)) == .ask)
    #expect(breaker.verdict("h", at: .seconds(1)) == .awaitTrial)
    breaker.failed("h", broken, isTrial: true, isAgain: true, at: .seconds(1), using: &random)
    #expect(breaker.verdict("h", at: .seconds(1)) == .ask)
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
    #expect(breaker.verdict("h", at: .zero) == .ask)
  }

  @Test mutating func `thousands of hosts that fail are not all remembered`() {
    var breaker = CircuitBreaker()
    for number in 0..<5000 {
      for _ in 0..<5 { breaker.failed("h\(number)", broken, at: .seconds(number), using: &random) }
    }
    #expect(breaker.verdict("h0", at: .seconds(5000)) == .ask)
    #expect(breaker.verdict("h4999", at: .seconds(4999)) != .ask)
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
    var memory = NegativeMemory()
    memory.note(status(code), of: "k", at: .zero)
    guard let seconds else {
      #expect(memory.error(of: "k", at: .zero) == nil, "\(why)")
      return
    }
    #expect(memory.error(of: "k", at: .seconds(seconds - 1))?.status == code, "\(why)")
    #expect(memory.error(of: "k", at: .seconds(seconds)) == nil, "\(why)")
  }

  @Test func `what asks for a wait is told how much of it is left`() {
    var memory = NegativeMemory()
    memory.note(status(503, retryAfter: 30), of: "k", at: .zero)
    #expect(memory.error(of: "k", at: .milliseconds(10_500))?.retryAfter == 20)
    #expect(memory.error(of: "k", at: .seconds(30)) == nil)
  }

  @Test func `an image that could not be had once is no worse than any other later`() {
    var memory = NegativeMemory()
    memory.note(status(404), of: "k", at: .zero)
    memory.forget("k")
    #expect(memory.error(of: "k", at: .zero) == nil)
    memory.note(status(404), of: "k", at: .zero)
    memory.reset()
    #expect(memory.error(of: "k", at: .zero) == nil)
  }

  @Test func `the page of a network that wants a login is forgotten soon`() {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(NegativeMemory.time(of: page) == .seconds(60))
    page.suspectsCaptivePortal = true
    #expect(NegativeMemory.time(of: page) == .seconds(10))
  }

  @Test func `memory of failures is bounded`() {
    var memory = NegativeMemory()
    for number in 0..<10_000 { memory.note(status(404), of: "k\(number)", at: .milliseconds(number)) }
    #expect(memory.error(of: "k0", at: .seconds(10)) == nil)
    #expect(memory.error(of: "k9999", at: .seconds(10)) != nil)
  }

  // MARK: The network

  @Test func `a network on which nothing answers counts as offline, and one tries now and then`() {
    var network = Connectivity()
    #expect(network.failed("a", begun: .zero, at: .zero) == false)
    #expect(network.failed("b", begun: .zero, at: .zero) == false)
    #expect(network.failed("a", begun: .zero, at: .zero) == false)
    #expect(!network.isOffline(at: .zero))
    #expect(network.failed("a", begun: .zero, at: .zero) == true)
    #expect(network.isOffline(at: .zero))
    #expect(network.trial(at: .seconds(2)) == .seconds(3))
    #expect(!network.isOffline(at: .seconds(5)))
    let trial = network.began(at: .seconds(5))
    #expect(network.isOffline(at: .seconds(5)))
    let isNews = network.failed("a", begun: .seconds(5), trial: trial, at: .seconds(6))
    #expect(!isNews)
    #expect(network.trial(at: .seconds(6)) == .seconds(10))
    #expect(network.heard(isImage: false, at: .seconds(6)) == true)
    #expect(!network.isOffline(at: .seconds(6)))
  }

  @Test func `one host that is down is not the network`() {
    var network = Connectivity()
    for _ in 0..<100 { #expect(network.failed("a", begun: .zero, at: .zero) == false) }
    #expect(!network.isOffline(at: .zero))
  }

  @Test func `an answer, or another network, begins anew`() {
    var network = Connectivity()
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

import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which failures count against a host, and which load probes an open circuit.
@Suite struct CircuitBreakerTests {
  private let broken = LoadError(.connection, message: "broken")
  private var random = SplitMix(state: 1)
  private var breaker = CircuitBreaker()

  private func status(_ status: Int = 503, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server responded with \(status)", status: status, retryAfter: retryAfter)
  }

  /// Makes requests fail that were sent just before.
  private mutating func fail(
    _ count: Int = 1,
    _ host: String = "h",
    _ error: LoadError? = nil,
    isRepeated: Bool = false,
    at now: Duration = .zero
  ) {
    for _ in 0..<count {
      breaker.failed(host, error ?? broken, since: now, isRepeated: isRepeated, at: now, using: &random)
    }
  }

  private func isAdmitted(_ host: String = "h", at now: Duration = .zero) -> Bool {
    breaker.admission(host, at: now) == .admitted
  }

  // MARK: Open

  @Test mutating func `five failures in a row open a host's circuit`() {
    fail(4)
    #expect(isAdmitted())
    fail()
    guard case .open(let wait, _) = breaker.admission("h", at: .zero) else {
      Issue.record("still asked")
      return
    }
    #expect(wait >= .seconds(1) && wait <= .seconds(2))
    #expect(isAdmitted("other"))
  }

  @Test mutating func `a response in between resets the count`() {
    for _ in 0..<10 {
      fail(4)
      breaker.responded("h")
    }
    #expect(isAdmitted())
  }

  /// The image may cause an error response, but it never causes a missing response.
  @Test(arguments: [
    (LoadError(.status, message: "", status: 503), true),
    (LoadError(.status, message: "", status: 429), true),
    (LoadError(.connection, message: ""), false), (LoadError(.timeout, message: ""), false),
    (LoadError(.unknownHost, message: ""), false),
  ])
  mutating func `of one load the first error response counts, and each attempt without a response`(
    error: LoadError,
    isAdmitted: Bool
  ) {
    fail(1, "h", error)
    fail(4, "h", error, isRepeated: true)
    #expect(self.isAdmitted() == isAdmitted)
  }

  @Test(arguments: [(7, 7), (0, 0), (1_000_000, 3600), (Int.max, 3600)])
  mutating func `Retry-After opens the circuit at once, for at most an hour`(asked: Int, seconds: Int) {
    let error = status(retryAfter: asked)
    fail(1, "h", error, isRepeated: true)
    let expected: CircuitBreaker.Admission = seconds == 0 ? .admitted : .open(.seconds(seconds), error)
    #expect(breaker.admission("h", at: .zero) == expected)
  }

  @Test(arguments: [(404, false), (500, true), (429, true), (501, false), (503, true), (403, false)])
  func `a response about one image does not count against its host`(code: Int, counts: Bool) {
    #expect(status(code).isOfWholeOrigin == counts)
  }

  @Test mutating func `on another network every circuit is closed`() {
    fail(5)
    breaker.reset()
    #expect(isAdmitted())
  }

  @Test mutating func `the memory of failing hosts is bounded`() {
    for number in 0..<5000 { fail(5, "h\(number)", at: .seconds(number)) }
    #expect(breaker.circuits.count <= 512)
    #expect(!isAdmitted("h4999", at: .seconds(4999)))
  }

  // MARK: Half-open

  @Test
  mutating func
    `after the cooldown one load probes, and its failure doubles the wait, at most to five minutes`()
  {
    var now = Duration.zero
    fail(5)
    var waits: [Duration] = []
    for _ in 0..<12 {
      guard case .open(let wait, _) = breaker.admission("h", at: now) else {
        Issue.record("no load waits")
        return
      }
      waits.append(wait)
      now += wait
      #expect(breaker.admit("h", at: now) == true)
      #expect(breaker.admit("h", at: now) == nil, "only one load probes")
      fail(at: now)
    }
    for (number, wait) in waits.enumerated() {
      let most = min(Duration.seconds(300), .seconds(2) * (1 << number))
      #expect(wait >= most * 0.5 && wait <= most)
    }
    breaker.responded("h")
    #expect(isAdmitted(at: now))
  }

  @Test mutating func `a query whether a host may be used is not a probe`() {
    fail(5)
    for _ in 0..<3 { #expect(isAdmitted(at: .seconds(2))) }
    #expect(breaker.admit("h", at: .seconds(2)) == true)
    #expect(breaker.admission("h", at: .seconds(2)) == .probing(broken))
  }

  @Test mutating func `a response ends the pause for all loads`() {
    fail(5)
    #expect(breaker.admit("h", at: .seconds(2)) == true)
    breaker.responded("h")
    for _ in 0..<3 { #expect(breaker.admit("h", at: .seconds(2)) == false, "it is no probe") }
  }

  @Test mutating func `a cancelled probe lets the next load probe`() {
    fail(5)
    for _ in 0..<2 {
      #expect(breaker.admit("h", at: .seconds(5)) == true)
      breaker.probeEnded("h")
    }
    #expect(isAdmitted(at: .seconds(5)))
  }

  @Test mutating func `a probe without a result is replaced after half a minute`() {
    fail(5)
    #expect(breaker.admit("h", at: .seconds(2)) == true)
    #expect(!isAdmitted(at: .seconds(31)))
    #expect(isAdmitted(at: .seconds(32)))
  }

  @Test mutating func `an earlier request neither ends a probe nor prolongs the cooldown`() throws {
    fail(50)
    let first = try #require(breaker.probeTime("h"))
    #expect(first <= .seconds(2), "simultaneous failures start the first cooldown only once")
    #expect(breaker.admit("h", at: first) == true)
    breaker.failed("h", broken, since: .zero, at: first, using: &random)
    #expect(breaker.admission("h", at: first) == .probing(broken))
    breaker.probeEnded("h")
    #expect(isAdmitted(at: first))
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
}

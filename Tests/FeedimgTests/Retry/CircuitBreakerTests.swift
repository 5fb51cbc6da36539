import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which failures count against a host, and which load probes an open circuit.
@Suite struct CircuitBreakerTests {
  private var random = SplitMix(state: 1)
  private var breaker = CircuitBreaker()

  private func status(_ status: Int = 503, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server responded with \(status)", status: status, retryAfter: retryAfter)
  }

  /// The image may cause an error response, but it never causes a missing response.
  @Test(arguments: [
    (LoadError(.status, message: "", status: 503), false),
    (LoadError(.status, message: "", status: 429), false),
    (LoadError(.connection, message: ""), true), (LoadError(.timeout, message: ""), true),
    (LoadError(.unknownHost, message: ""), true),
  ])
  mutating func `of one load the first error response counts, and each attempt without a response`(
    error: LoadError,
    isLeftAlone: Bool
  ) {
    breaker.failed("h", error, at: .zero, using: &random)
    for _ in 1..<5 { breaker.failed("h", error, isRepeated: true, at: .zero, using: &random) }
    #expect((breaker.admit("h", at: .zero) != .admitted) == isLeftAlone)
  }

  @Test mutating func `the first failures of five loads open the circuit, whatever their later attempts do`()
  {
    for number in 0..<5 {
      #expect(breaker.admit("h", at: .zero) == .admitted, "\(number) have failed")
      breaker.failed("h", status(), at: .zero, using: &random)
    }
    #expect(breaker.admit("h", at: .zero) != .admitted)
  }

  @Test mutating func `one load probes in each cooldown, which it does not prolong`() {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    guard case .open(let wait, _) = breaker.admit("h", at: .zero) else {
      Issue.record("still asked")
      return
    }
    #expect(breaker.admit("h", allowingProbe: true, at: .zero) == .admitted)
    #expect(breaker.admit("h", allowingProbe: true, at: .zero) == .probing)
    breaker.failed("h", status(), isProbe: true, at: .zero, using: &random)
    #expect(breaker.admit("h", allowingProbe: true, at: .zero) == .open(wait, status()))
    #expect(breaker.admit("h", at: wait) == .admitted, "the cooldown is over")
    #expect(breaker.admit("h", allowingProbe: true, at: wait) == .probing)
    breaker.failed("h", status(), isProbe: true, at: wait, using: &random)
    #expect(breaker.admit("h", at: wait) != .admitted)
    #expect(breaker.admit("h", allowingProbe: true, at: wait) == .admitted, "its own cooldown")
  }

  @Test mutating func `when a probe is cancelled another load probes, and a response lets all continue`() {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    for _ in 0..<3 {
      #expect(breaker.admit("h", allowingProbe: true, at: .zero) == .admitted)
      breaker.probeCancelled("h")
      #expect(breaker.admit("h", at: .zero) != .admitted, "the others keep waiting")
    }
    #expect(breaker.admit("h", allowingProbe: true, at: .zero) == .admitted)
    breaker.probeResponded("h")
    for _ in 0..<3 { #expect(breaker.admit("h", at: .zero) == .admitted) }
  }

  @Test(arguments: [
    (LoadError(.connection, message: "broken"), "no load is left"),
    (
      LoadError(.status, message: "busy", status: 503, retryAfter: 1), "it sent a Retry-After"
    ),
  ])
  mutating func `no load probes when a probe cannot help`(error: LoadError, why: String) {
    for _ in 0..<5 { breaker.failed("h", error, at: .zero, using: &random) }
    #expect(breaker.admit("h", allowingProbe: true, at: .zero) != .admitted, "\(why)")
  }

  @Test mutating func `an earlier request neither ends a probe nor prolongs the cooldown`() {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
    for _ in 0..<5 { breaker.failed("h", status(), at: .seconds(2), using: &random) }
    #expect(breaker.admit("h", at: .seconds(2)) == .probing)
    breaker.probeCancelled("h")
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
  }

  @Test mutating func `a redirected load prolongs the cooldown of its target if sent after it, once`() throws
  {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    let first = try #require(breaker.probeTime("h"))
    breaker.failed("h", status(), redirectedAt: first - .milliseconds(1), at: first, using: &random)
    #expect(breaker.probeTime("h") == first, "it was already running")
    for _ in 0..<2 { breaker.failed("h", status(), redirectedAt: first, at: first, using: &random) }
    let second = try #require(breaker.probeTime("h"))
    #expect(second >= first + .seconds(2) && second <= first + .seconds(4))
  }
}

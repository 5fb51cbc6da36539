import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// What counts against a host, and who asks one that is left alone.
@Suite struct CircuitBreakerTests {
  private var random = SplitMix(state: 1)
  private var breaker = CircuitBreaker()

  private func status(_ status: Int = 503, retryAfter: Int? = nil) -> LoadError {
    LoadError(.status, message: "the server answered \(status)", status: status, retryAfter: retryAfter)
  }

  /// The image may be to blame for an answer, and for no answer it is not.
  @Test(arguments: [
    (LoadError(.status, message: "", status: 503), false),
    (LoadError(.status, message: "", status: 429), false),
    (LoadError(.connection, message: ""), true), (LoadError(.timeout, message: ""), true),
    (LoadError(.unknownHost, message: ""), true),
  ])
  mutating func `of one load the first answer counts, and each try that got none`(
    error: LoadError,
    isLeftAlone: Bool
  ) {
    breaker.failed("h", error, at: .zero, using: &random)
    for _ in 1..<5 { breaker.failed("h", error, isRepeated: true, at: .zero, using: &random) }
    #expect((breaker.admit("h", at: .zero) != .admitted) == isLeftAlone)
  }

  @Test mutating func `the first failures of five loads are enough, whatever their later tries come to`() {
    for number in 0..<5 {
      #expect(breaker.admit("h", at: .zero) == .admitted, "\(number) have failed")
      breaker.failed("h", status(), at: .zero, using: &random)
    }
    #expect(breaker.admit("h", at: .zero) != .admitted)
  }

  @Test mutating func `one insists in each wait, which is no longer for it`() {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    guard case .open(let wait, _) = breaker.admit("h", at: .zero) else {
      Issue.record("still asked")
      return
    }
    #expect(breaker.admit("h", insisting: true, at: .zero) == .admitted)
    #expect(breaker.admit("h", insisting: true, at: .zero) == .probing)
    breaker.failed("h", status(), isProbe: true, at: .zero, using: &random)
    #expect(breaker.admit("h", insisting: true, at: .zero) == .open(wait, status()))
    #expect(breaker.admit("h", at: wait) == .admitted, "the wait is over")
    #expect(breaker.admit("h", insisting: true, at: wait) == .probing)
    breaker.failed("h", status(), isProbe: true, at: wait, using: &random)
    #expect(breaker.admit("h", at: wait) != .admitted)
    #expect(breaker.admit("h", insisting: true, at: wait) == .admitted, "a wait of its own")
  }

  @Test mutating func `who insists and leaves lets another insist, and all go on when it is answered`() {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    for _ in 0..<3 {
      #expect(breaker.admit("h", insisting: true, at: .zero) == .admitted)
      breaker.probeCancelled("h")
      #expect(breaker.admit("h", at: .zero) != .admitted, "the others wait on")
    }
    #expect(breaker.admit("h", insisting: true, at: .zero) == .admitted)
    breaker.probeAnswered("h")
    for _ in 0..<3 { #expect(breaker.admit("h", at: .zero) == .admitted) }
  }

  @Test(arguments: [
    (LoadError(.connection, message: "broken"), "nobody is there"),
    (
      LoadError(.status, message: "busy", status: 503, retryAfter: 1), "it has said when it wants to be asked"
    ),
  ])
  mutating func `nobody insists where that is of no use`(error: LoadError, why: String) {
    for _ in 0..<5 { breaker.failed("h", error, at: .zero, using: &random) }
    #expect(breaker.admit("h", insisting: true, at: .zero) != .admitted, "\(why)")
  }

  @Test mutating func `what was under way neither ends a trial nor makes the wait longer`() {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
    for _ in 0..<5 { breaker.failed("h", status(), at: .seconds(2), using: &random) }
    #expect(breaker.admit("h", at: .seconds(2)) == .probing)
    breaker.probeCancelled("h")
    #expect(breaker.admit("h", at: .seconds(2)) == .admitted)
  }

  @Test mutating func `who is sent on makes the wait longer if asked after it, once`() throws {
    for _ in 0..<5 { breaker.failed("h", status(), at: .zero, using: &random) }
    let first = try #require(breaker.probeTime("h"))
    breaker.failed("h", status(), redirectedAt: first - .milliseconds(1), at: first, using: &random)
    #expect(breaker.probeTime("h") == first, "it was under way")
    for _ in 0..<2 { breaker.failed("h", status(), redirectedAt: first, at: first, using: &random) }
    let second = try #require(breaker.probeTime("h"))
    #expect(second >= first + .seconds(2) && second <= first + .seconds(4))
  }
}

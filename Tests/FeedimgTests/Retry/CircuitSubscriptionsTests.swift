import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which subscribers wake when an origin recovers, and which one probes it.
@Suite struct CircuitSubscriptionsTests {
  private static let silence = LoadError(.timeout, message: "no response came")
  private static let busy = LoadError(.status, message: "the server responded with 503", status: 503)

  private var subscriptions = CircuitSubscriptions()
  private var breaker = CircuitBreaker()
  private var random = SplitMix(state: 1)

  private mutating func subscribe(
    _ origin: String = "h",
    after error: LoadError = silence,
    wakes: Int = 0,
    priority: LoadPriority? = .visible,
    at now: Duration = .zero
  ) -> Int {
    subscriptions.subscribe(
      to: origin,
      CircuitSubscriptions.Subscriber(priority: { priority }, wake: { _ in }),
      after: error,
      wakes: wakes,
      isOpen: breaker.isOpen(origin),
      at: now
    )
  }

  /// Opens the circuit of an origin.
  ///
  /// - Returns: The time at which it is half-open.
  private mutating func fail(_ origin: String = "h", _ error: LoadError = silence) throws -> Duration {
    for _ in 0..<5 { breaker.failed(origin, error, at: .zero, using: &random) }
    return try #require(breaker.probeTime(origin))
  }

  private var due: Duration? { subscriptions.due { breaker.probeTime($0) } }

  private mutating func woken(at now: Duration) -> [Int] {
    subscriptions.takeDue(at: now) { [breaker] in breaker.probeTime($0) }.map(\.entry.number)
  }

  @Test mutating func `one subscriber of an open circuit wakes when it is half-open`() throws {
    let reopening = try fail()
    let first = subscribe()
    _ = subscribe(after: Self.busy)
    _ = subscribe("other")
    #expect(due == reopening)
    #expect(woken(at: reopening - .milliseconds(1)) == [])
    #expect(woken(at: reopening) == [first])
    #expect(woken(at: reopening) == [], "one tries")
  }

  @Test mutating func `one subscriber probes at a time, until it is cancelled or takes too long`() throws {
    let reopening = try fail()
    let (first, second) = (subscribe(), subscribe())
    #expect(woken(at: reopening) == [first])
    #expect(woken(at: reopening + .seconds(29)) == [])
    #expect(woken(at: reopening + .seconds(30)) == [second])
    let third = subscribe()
    subscriptions.probeCancelled("h")
    #expect(woken(at: reopening) == [third])
  }

  @Test mutating func `no subscriber wakes to probe while a load probes`() throws {
    let reopening = try fail()
    let number = subscribe()
    _ = breaker.admit("h", at: reopening)
    #expect(due == reopening + .seconds(30))
    breaker.probeCancelled("h")
    #expect(woken(at: reopening) == [number])
  }

  @Test mutating func `a subscriber with failed wake-ups waits longer each time, at most five minutes`() {
    let waits = (0..<10).map { wakes -> Duration? in
      subscriptions = CircuitSubscriptions()
      _ = subscribe(wakes: wakes)
      return due
    }
    #expect(waits == [5, 5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
  }

  struct Return: Sendable, CustomTestStringConvertible {
    let error: LoadError
    var wakes = 0
    let wasOpen: Bool
    let wakesNow: Bool
    let testDescription: String
  }

  static let returns = [
    Return(error: silence, wasOpen: true, wakesNow: true, testDescription: "the circuit was open"),
    Return(error: silence, wasOpen: false, wakesNow: true, testDescription: "the host was silent"),
    Return(error: busy, wasOpen: true, wakesNow: true, testDescription: "the host responded with an error"),
    Return(error: busy, wasOpen: false, wakesNow: false, testDescription: "the image may be the cause"),
    Return(
      error: silence,
      wakes: 1,
      wasOpen: true,
      wakesNow: false,
      testDescription: "it woke for nothing just before"
    ),
  ]

  @Test(arguments: returns)
  mutating func `a response of an origin wakes the subscribers that it concerns`(_ row: Return) {
    let number = subscribe(after: row.error, wakes: row.wakes)
    _ = subscribe("other")
    let woken = subscriptions.responded("h", wasOpen: row.wasOpen, at: .zero).map(\.number)
    #expect(woken == (row.wakesNow ? [number] : []))
    #expect(subscriptions.count == (row.wakesNow ? 1 : 2))
    let later = subscriptions.responded("h", wasOpen: true, at: .seconds(5)).count
    #expect(later == (row.wakesNow ? 0 : 1), "once")
  }

  @Test mutating func `a failure from before the origin's recovery is retried at once`() {
    var refusal = Self.busy
    refusal.retry.circuit = .opened
    let number = subscribe(after: refusal)
    #expect(woken(at: .zero) == [number])
  }

  @Test mutating func `a subscriber that waits while its origin recovers retries after its own wait`() throws
  {
    _ = try fail("h", Self.busy)
    let number = subscribe(after: Self.busy, wakes: 1)
    breaker.responded("h")
    #expect(subscriptions.responded("h", wasOpen: true, at: .zero).isEmpty)
    #expect(woken(at: .seconds(5)) == [number])
  }

  @Test mutating func `an image that fails alone is retried with backoff`() {
    let number = subscribe(after: Self.busy)
    #expect(due == .seconds(5))
    #expect(woken(at: .seconds(5)) == [number])
  }

  @Test mutating func `visible subscribers wake first, then those that wait longest, and no others`() throws {
    let reopening = try fail()
    let prefetch = subscribe(priority: .prefetch)
    _ = subscribe(priority: nil)
    let (first, second) = (subscribe(), subscribe())
    var order: [Int] = []
    for _ in 0..<3 {
      order += woken(at: reopening)
      subscriptions.probeCancelled("h")
    }
    #expect(order == [first, second, prefetch])
    #expect(subscriptions.isEmpty && due == nil)
  }
}

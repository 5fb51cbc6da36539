import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which subscribers wake when an origin recovers, and which one probes it.
@Suite struct CircuitSubscriptionsTests {
  private static let silence = LoadError(.timeout, message: "no response came")
  private static let busy = LoadError(.status, message: "the server responded with 503", status: 503)

  private let controller = RetryController(ManualTime().time)
  private var subscriptions = CircuitSubscriptions()
  private var breaker = CircuitBreaker()
  private var random = SplitMix(state: 1)

  private mutating func subscribe(
    _ origin: String = "h",
    after error: LoadError = silence,
    priority: LoadPriority? = .visible,
    pause: Duration = .zero
  ) -> CircuitSubscription {
    let subscription = CircuitSubscription(controller) { priority }
    let waiting = CircuitSubscriptions.Waiting(
      subscription: subscription,
      notBefore: pause,
      waitsForHost: error.status == nil,
      wake: {}
    )
    subscriptions.add(waiting, to: origin)
    subscriptions.add(waiting, to: origin)
    return subscription
  }

  /// Opens the circuit of an origin.
  ///
  /// - Returns: The time at which it is half-open.
  private mutating func fail(_ origin: String = "h", _ error: LoadError = silence) throws -> Duration {
    for _ in 0..<5 { breaker.failed(origin, error, since: .zero, at: .zero, using: &random) }
    return try #require(breaker.probeTime(origin))
  }

  private var due: Duration? { subscriptions.due { breaker.probeTime($0) } }

  private mutating func woken(at now: Duration) -> CircuitSubscription? {
    let woken = subscriptions.takeDue(at: now) { [breaker] in breaker.probeTime($0) }
    #expect(woken.count < 2, "one tries")
    return woken.first?.subscription
  }

  @Test mutating func `subscribers of an open circuit wake one at a time when it is half-open`() throws {
    let reopening = try fail()
    let (first, second) = (subscribe(), subscribe(after: Self.busy))
    _ = subscribe("other", pause: .seconds(60))
    #expect(subscriptions.count == 3, "each waits once")
    #expect(due == reopening)
    #expect(woken(at: reopening - .milliseconds(1)) == nil)
    #expect(woken(at: reopening) === first)
    #expect(woken(at: reopening) == nil)
    #expect(woken(at: reopening + .seconds(5)) === second)
  }

  @Test mutating func `a subscriber of two origins that are due together wakes once`() {
    let subscription = subscribe()
    let other = CircuitSubscriptions.Waiting(
      subscription: subscription,
      notBefore: .zero,
      waitsForHost: true,
      wake: {}
    )
    subscriptions.add(other, to: "other")
    #expect(woken(at: .seconds(5)) === subscription)
    #expect(subscriptions.count == 0)
  }

  @Test mutating func `no subscriber wakes to probe while a load probes`() throws {
    let reopening = try fail()
    let subscription = subscribe()
    _ = breaker.admit("h", at: reopening)
    #expect(due == reopening + .seconds(30))
    breaker.probeEnded("h")
    #expect(woken(at: reopening) === subscription)
  }

  @Test @PipelineActor
  func `a subscriber waits longer, the more often it woke in vain, at most five minutes`() {
    let time = ManualTime()
    let controller = RetryController(time.time)
    let subscription = CircuitSubscription(controller) { .visible }
    var error = Self.silence
    error.attribute(to: "http://a.example", .closed)
    var pauses: [Duration] = []
    for _ in 0..<9 {
      pauses.append(subscription.pause)
      subscription.wait(after: error) {}
      time.pass(.seconds(300))
      controller.responded("http://a.example")
    }
    #expect(pauses == [0, 5, 10, 20, 40, 80, 160, 300, 300].map { .seconds($0) })
    subscription.succeeded()
    #expect(subscription.pause == .zero)
  }

  @Test @PipelineActor func `without a timer thread the next event sets the alarm again`() async {
    let time = MonotonicTime(now: { .zero }, sleep: { _ in throw CancellationError() })
    let controller = RetryController(time)
    let subscription = CircuitSubscription(controller) { .visible }
    var error = Self.silence
    error.attribute(to: "http://a.example", .closed)
    subscription.wait(after: error) {}
    #expect(controller.nextWake != nil)
    for _ in 0..<10 { await PipelineActor.task {}.value }
    #expect(controller.nextWake == nil)
    controller.responded("http://b.example")
    #expect(controller.nextWake != nil)
    subscription.close()
  }

  struct Return: Sendable, CustomTestStringConvertible {
    let error: LoadError
    var pause = Duration.zero
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
      pause: .seconds(5),
      wasOpen: true,
      wakesNow: false,
      testDescription: "it woke in vain just before"
    ),
  ]

  @Test(arguments: returns)
  mutating func `a response of an origin wakes the subscribers that it concerns`(_ row: Return) {
    let subscription = subscribe(after: row.error, pause: row.pause)
    _ = subscribe("other")
    let woken = subscriptions.takeAll("h", wasOpen: row.wasOpen, at: .zero)
    #expect(woken.contains { $0.subscription === subscription } == row.wakesNow)
    #expect(subscriptions.count == (row.wakesNow ? 1 : 2))
    let later = subscriptions.takeAll("h", wasOpen: true, at: .seconds(5)).count
    #expect(later == (row.wakesNow ? 0 : 1), "once")
  }

  @Test mutating func `a subscriber of a closed circuit wakes five seconds after its own pause`() {
    let subscription = subscribe(after: Self.busy, pause: .seconds(20))
    #expect(due == .seconds(25))
    #expect(woken(at: .seconds(25)) === subscription)
    #expect(due == nil)
  }

  @Test mutating func `visible subscribers wake first, then those that wait longest, and no others`() throws {
    let reopening = try fail()
    let prefetch = subscribe(priority: .prefetch)
    _ = subscribe(priority: nil)
    let (first, second) = (subscribe(), subscribe())
    for (number, next) in [first, second, prefetch].enumerated() {
      #expect(woken(at: reopening + .seconds(5 * number)) === next)
    }
    #expect(subscriptions.count == 0 && due == nil)
  }

  @Test mutating func `a subscriber that leaves does not wake`() throws {
    let reopening = try fail()
    let (first, second) = (subscribe(), subscribe())
    subscriptions.remove(first)
    #expect(woken(at: reopening) === second)
  }
}

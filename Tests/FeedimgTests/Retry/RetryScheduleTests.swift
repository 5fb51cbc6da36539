import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgPipeline

struct RetryScheduleTests {
  /// Always the same number.
  private struct Constant: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { value }
    static var lowest: Constant { Constant(value: 0) }
    static var middle: Constant { Constant(value: .max / 2 + 1) }
    static var highest: Constant { Constant(value: .max) }
  }

  private let schedule = RetrySchedule(maximumTries: 9)
  private let broken = LoadError(.connection, message: "broken")

  private func wait(_ error: LoadError, tries: Int, _ random: Constant) -> Double? {
    var random = random
    return schedule.pause(after: error, tries: tries, using: &random).map { $0 / .seconds(1) }
  }

  @Test(arguments: [
    (1, 0.25, 0.5), (2, 0.5, 1), (3, 1, 2), (4, 2, 4), (5, 4, 8), (6, 8, 16), (7, 15, 30), (8, 15, 30),
  ])
  func `the wait doubles up to a limit and is drawn from its upper half`(
    tries: Int,
    least: Double,
    most: Double
  ) throws {
    #expect(wait(broken, tries: tries, .lowest) == least)
    #expect(wait(broken, tries: tries, .middle) == (least + most) / 2)
    let highest = try #require(wait(broken, tries: tries, .highest))
    #expect(highest <= most && highest > most * 0.99)
  }

  @Test(arguments: [9, 10, 1000, Int.max])
  func `after the last attempt there is no retry`(tries: Int) {
    #expect(wait(broken, tries: tries, .lowest) == nil)
  }

  @Test(arguments: [(false, nil), (true, 0.25)])
  func `a shortage of this program is retried if it is temporary`(isShortage: Bool, least: Double?) {
    var error = LoadError(.unavailable, message: "there is none")
    error.cause = isShortage ? .shortage : nil
    #expect(wait(error, tries: 1, .lowest) == least)
  }

  @Test func `no number of attempts makes the wait overflow`() {
    let endless = RetrySchedule(maximumTries: .max)
    for tries in [0, -5, 31, 64, 1_000_000, Int.max - 1] {
      var random = Constant.lowest
      let pause = endless.pause(after: broken, tries: tries, using: &random)
      #expect(pause == (tries > 0 ? .seconds(15) : .milliseconds(250)))
    }
  }

  @Test(arguments: [
    (0, 0.25, "a Retry-After of zero keeps the wait of the schedule"), (3, 3.0, "the server's wait"),
    (60, 60.0, "the longest accepted wait"),
  ])
  func `the wait that a server asks for is kept`(seconds: Int, least: Double, reason: String) throws {
    let error = LoadError(.status, message: "busy", status: 503, retryAfter: seconds)
    #expect(wait(error, tries: 1, .lowest) == least, "\(reason)")
    let highest = try #require(wait(error, tries: 1, .highest))
    #expect(highest > least && highest <= least + 0.25)
  }

  @Test(arguments: [61, Int.max])
  func `a server that asks for too long a wait gets no retry`(seconds: Int) {
    let error = LoadError(.status, message: "busy", status: 503, retryAfter: seconds)
    #expect(wait(error, tries: 1, .lowest) == nil)
  }

  @Test(arguments: [
    (400, false), (401, false), (403, false), (404, false), (408, true), (410, false), (416, false),
    (425, true),
    (429, true), (500, true), (501, false), (502, true), (503, true), (504, true), (505, false), (200, false),
  ])
  func `temporary statuses are retried`(status: Int, isRetried: Bool) {
    let error = LoadError(.status, message: "responded", status: status)
    #expect(error.isWorthRetrying == isRetried)
  }

  @Test(arguments: LoadError.Code.allCases)
  func `network failures are retried`(code: LoadError.Code) {
    let retried: Set<LoadError.Code> = [.connection, .timeout, .truncated, .unknownHost]
    #expect(LoadError(code, message: "failed").isWorthRetrying == retried.contains(code))
  }

  @Test func `a backoff doubles up to its limit, and is reduced by its jitter`() {
    let backoff = Backoff(base: .seconds(1), maximum: .seconds(7))
    var random = Constant.lowest
    #expect((0...4).map { backoff.ceiling(after: $0) } == [1, 1, 2, 4, 7].map { .seconds($0) })
    #expect(backoff.jittered(.seconds(4), using: &random) == .seconds(2))
    #expect(backoff.ceiling(after: .max) == .seconds(7))
  }
}

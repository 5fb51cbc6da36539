import FeedimgModel
import Testing

@testable import Feedimg

/// Who is woken when an origin is there again, and who is to find out.
@Suite struct OriginVigilTests {
  private static let silence = LoadError(.timeout, message: "no answer came")
  private static let busy = LoadError(.status, message: "the server answered 503", status: 503)

  private var vigil = OriginVigil()
  private var breaker = CircuitBreaker()
  private var random = SplitMix(state: 1)

  private mutating func wait(
    _ origin: String = "h",
    after error: LoadError = silence,
    replays: Int = 0,
    hasTried: Bool = false,
    priority: LoadPriority? = .visible,
    at now: Duration = .zero
  ) -> Int {
    vigil.wait(
      for: origin,
      OriginVigil.Waiter(priority: { priority }, wake: { _ in }),
      after: error,
      replays: replays,
      hasTried: hasTried,
      isLeftAlone: breaker.needsTrial(origin),
      at: now
    )
  }

  /// Has a host be left alone, until the time that is returned.
  private mutating func fail(_ origin: String = "h", _ error: LoadError = silence) throws -> Duration {
    for _ in 0..<5 { breaker.failed(origin, error, at: .zero, using: &random) }
    return try #require(breaker.reopening(origin))
  }

  private func candidates(at now: Duration, _ origin: String = "h") -> [Int] {
    (vigil.candidates(breaker, at: now)[origin] ?? []).map(\.number).sorted()
  }

  @Test mutating func `who waits for an origin that is left alone may try as soon as it is so no longer`()
    throws
  {
    let reopening = try fail()
    let waiting = [wait(), wait(after: Self.busy)]
    _ = wait("other")
    #expect(vigil.due(breaker) == reopening)
    #expect(candidates(at: reopening - .milliseconds(1)) == [])
    #expect(candidates(at: reopening) == waiting)
    #expect(candidates(at: reopening, "other") == [])
  }

  @Test mutating func `while one tries nobody else does, until it gives up or takes too long`() throws {
    let reopening = try fail()
    let (first, second) = (wait(), wait())
    let tries = (0..<2).map { _ in vigil.tries(first, "h", at: reopening) }
    #expect(tries == [true, false], "it waits no longer")
    #expect(candidates(at: reopening + .seconds(29)) == [])
    #expect(candidates(at: reopening + .seconds(30)) == [second])
    let third = wait()
    #expect(candidates(at: reopening) == [], "it has not tried")
    vigil.gaveUp("h")
    #expect(candidates(at: reopening) == [second, third])
    _ = vigil.tries(second, "h", at: reopening)
    let again = wait(hasTried: true)
    #expect(candidates(at: reopening) == [third, again])
  }

  @Test mutating func `nobody is woken to try while another load tries`() throws {
    let reopening = try fail()
    let number = wait()
    _ = breaker.verdict("h", at: reopening)
    #expect(vigil.due(breaker) == reopening + .seconds(30))
    breaker.gaveUp("h")
    #expect(candidates(at: reopening) == [number])
  }

  @Test mutating func `who was woken in vain rests for longer each time, five minutes at most`() throws {
    let rests = (0..<10).map { replays -> Duration? in
      vigil = OriginVigil()
      _ = wait(replays: replays)
      return vigil.due(breaker)
    }
    #expect(rests == [5, 5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
  }

  struct Return: Sendable, CustomTestStringConvertible {
    let error: LoadError
    var replays = 0
    let wasLeftAlone: Bool
    let isWoken: Bool
    let testDescription: String
  }

  static let returns = [
    Return(error: silence, wasLeftAlone: true, isWoken: true, testDescription: "it is there again"),
    Return(error: silence, wasLeftAlone: false, isWoken: true, testDescription: "it answers, as it did not"),
    Return(error: busy, wasLeftAlone: true, isWoken: true, testDescription: "it was in trouble"),
    Return(error: busy, wasLeftAlone: false, isWoken: false, testDescription: "the image may be to blame"),
    Return(
      error: silence,
      replays: 1,
      wasLeftAlone: true,
      isWoken: false,
      testDescription: "it was woken in vain a moment ago"
    ),
  ]

  @Test(arguments: returns)
  mutating func `an answer to anybody wakes whom it concerns`(_ row: Return) {
    let number = wait(after: row.error, replays: row.replays)
    _ = wait("other")
    let woken = vigil.returned("h", wasLeftAlone: row.wasLeftAlone, at: .zero).map(\.number)
    #expect(woken == (row.isWoken ? [number] : []))
    #expect(vigil.count == (row.isWoken ? 1 : 2))
    let later = vigil.returned("h", wasLeftAlone: true, at: .seconds(5)).count
    #expect(later == (row.isWoken ? 0 : 1), "once")
  }

  @Test mutating func `who fails while the origin comes back need not wait for anybody else`() {
    var refusal = Self.busy
    refusal.isOfLeftAlone = true
    let number = wait(after: refusal)
    #expect(candidates(at: .zero) == [number])
  }

  @Test mutating func `who rests while an origin in trouble comes back begins anew after its rest`() throws {
    _ = try fail("h", Self.busy)
    let number = wait(after: Self.busy, replays: 1)
    breaker.answered("h")
    #expect(vigil.returned("h", wasLeftAlone: true, at: .zero).isEmpty)
    #expect(vigil.due(breaker) == .seconds(5))
    #expect(candidates(at: .seconds(5)) == [number])
  }

  @Test mutating func `who has an error of its image waits for no origin that answers`() {
    _ = wait(after: Self.busy)
    #expect(vigil.due(breaker) == nil)
  }

  @Test mutating func `those on screen come first, then who has waited longest, nobody else`() throws {
    let reopening = try fail()
    let prefetch = wait(priority: .prefetch)
    let gone = wait(priority: nil)
    let (first, second) = (wait(), wait())
    let candidates = try #require(vigil.candidates(breaker, at: reopening)["h"])
    #expect(candidates.inOrder.map(\.number) == [first, second, prefetch])
    for number in [prefetch, gone, first, second] { vigil.leave(number, of: "h") }
    #expect(vigil.isEmpty && vigil.due(breaker) == nil)
  }
}

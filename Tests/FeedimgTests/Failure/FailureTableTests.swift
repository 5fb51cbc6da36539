import FeedimgModel
import FeedimgTransfer
import Testing

@testable import Feedimg

/// What one failure says of the network.
@Suite struct FailureTableTests {
  private func dead(
    after error: LoadError,
    hasProgressed: Bool = false,
    _ path: (Int) -> (url: String, asked: String)
  ) throws -> Bool {
    var table = FailureTable()
    for number in 0..<8 {
      let (url, asked) = path(number)
      _ = table.judgeNetwork(
        try ImageURL(url),
        error,
        asked: try ImageURL(asked),
        hasProgressed: hasProgressed,
        at: .zero
      )
    }
    return table.connectivity.isDead
  }

  @Test func `where servers redirect to one that is down the network is well`() throws {
    let error = LoadError(.timeout, message: "no answer came within 20 s")
    #expect(try !dead(after: error) { ("http://h\($0).example/a", "http://down.example/a") })
    #expect(try dead(after: error) { ("http://h\($0).example/a", "http://h\($0).example/b") })
  }

  @Test func `where good parts of images come the network is well, however they end`() throws {
    let error = LoadError(.timeout, message: "nothing came for 20 s")
    #expect(
      try !dead(after: error, hasProgressed: true) { ("http://h\($0).example/a", "http://h\($0).example/a") }
    )
  }

  @Test func `where every server seems to redirect to one login nothing gets through`() throws {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(try !dead(after: page) { ("http://h\($0).example/a", "http://login.example/") })
    page.suspectsCaptivePortal = true
    #expect(try dead(after: page) { ("http://h\($0).example/a", "http://login.example/") })
    #expect(try !dead(after: page) { _ in ("http://h.example/a", "http://login.example/") })
  }

  @Test func `what is on this machine says nothing of the network, neither way`() throws {
    let silence = LoadError(.timeout, message: "no answer came within 20 s")
    let missing = LoadError(.status, message: "not found", status: 404)
    #expect(try !dead(after: silence) { ("http://127.0.0.\($0 + 1)/a", "http://127.0.0.\($0 + 1)/a") })
    var table = FailureTable()
    let local = try ImageURL("http://localhost/a")
    for number in 0..<4 {
      #expect(table.judgeNetwork(local, missing, asked: local, at: .zero) == false)
      let url = try ImageURL("http://h\(number).example/a")
      #expect(table.judgeNetwork(url, silence, asked: url, at: .zero) == (number == 3))
    }
    #expect(table.began(local, at: .seconds(5)) == nil)
    #expect(table.began(try ImageURL("http://h.example/a"), at: .seconds(5)) != nil)
  }

  @Test func `a connection that is refused says nothing of the network`() throws {
    var refused = LoadError(.connection, message: "no connection: connection refused")
    refused.wasRefused = true
    #expect(try !dead(after: refused) { ("http://h\($0).example/a", "http://h\($0).example/a") })
  }

  @Test func `what this program is short of says nothing of a server, neither way`() throws {
    var table = FailureTable()
    let url = try ImageURL("http://h.example/a")
    let silence = LoadError(.connection, message: "no connection")
    let shortage = LoadError(.unavailable, message: "too many open files: raise the limit")
    for number in 1...CircuitBreaker.greatestFailures {
      #expect(table.breaker.outlook(url.origin, at: .zero) == .ask, "\(number - 1) have failed")
      for error in [silence, shortage] {
        _ = table.wait(
          after: error,
          of: url,
          false,
          speaksAgainstAll: CircuitBreaker.counts(error),
          tries: 1,
          RetrySchedule(),
          at: .zero
        )
      }
    }
    #expect(table.breaker.outlook(url.origin, at: .zero) != .ask)
    #expect(table.breaker.lastError(url.origin) == silence)
  }

  @Test func `what this program is short of leaves what has come of an image`() {
    #expect(LoadError(.unavailable, message: "too many open files: raise the limit").breaksOff)
  }

  @Test func `who tries a server and is short of something lets the next one try`() throws {
    var table = FailureTable()
    let url = try ImageURL("http://h.example/a")
    let busy = LoadError(.status, message: "busy", status: 503, retryAfter: 5)
    table.breaker.failed(url.origin, busy, at: .zero, using: &table.random)
    let later = Duration.seconds(5)
    #expect(table.breaker.verdict(url.origin, at: later) == .ask)
    #expect(table.breaker.outlook(url.origin, at: later) == .awaitTrial)
    let shortage = LoadError(.unavailable, message: "too many open files: raise the limit")
    _ = table.wait(
      after: shortage,
      of: url,
      true,
      speaksAgainstAll: false,
      tries: 1,
      RetrySchedule(),
      at: later
    )
    #expect(table.breaker.outlook(url.origin, at: later) == .ask)
    #expect(table.breaker.needsTrial(url.origin))
  }
}

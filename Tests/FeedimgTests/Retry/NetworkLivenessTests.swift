import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Evidence for and against a network, and when it is probed.
@Suite struct NetworkLivenessTests {
  private static let silence = LoadError(.timeout, message: "no response came within 20 s")

  private let time = ManualTime()
  private let network: NetworkLiveness

  init() { network = NetworkLiveness(time.time) }

  /// Makes attempts on some hosts fail, all started at one time.
  private func fail(
    _ error: LoadError = silence,
    count: Int = 8,
    hosts: Int = 2,
    since begun: Duration? = nil
  ) {
    for number in 0..<count {
      network.failed(error, "h\(number % hosts)", since: begun ?? time.time.now())
    }
  }

  @Test func `four failures in a row on two hosts make a network dead`() {
    fail(count: 3)
    #expect(!network.isDead)
    fail(count: 1)
    #expect(network.isDead)
  }

  @Test func `one host that is down does not make the network dead`() {
    fail(count: 100, hosts: 1)
    #expect(!network.isDead)
  }

  @Test func `a response, or another network, resets the count`() {
    fail(count: 3)
    network.responded()
    time.pass(.seconds(1))
    fail(count: 3)
    network.reset()
    fail(count: 3)
    #expect(!network.isDead)
    fail(count: 1)
    #expect(network.isDead)
    network.reset()
    #expect(!network.isDead)
  }

  @Test(arguments: [(0, false), (1, false), (2, true)])
  func `a failure counts only if nothing came since its request`(_ begun: Int, _ isDead: Bool) {
    time.pass(.seconds(1))
    network.responded()
    time.pass(.seconds(19))
    fail(since: .seconds(begun))
    #expect(network.isDead == isDead)
  }

  @Test func `one load at a time probes, after pauses that double up to a minute`() throws {
    fail()
    var pauses: [Duration] = []
    for _ in 0..<6 {
      #expect(network.isOffline)
      let pause = try #require(network.nextProbe)
      pauses.append(pause)
      network.began()
      #expect(network.nextProbe == pause, "too early")
      time.pass(pause)
      #expect(!network.isOffline)
      network.began()
      #expect(network.isOffline && network.nextProbe == .seconds(5), "it may end at any time")
      fail(since: .zero)
      #expect(network.nextProbe == .seconds(5), "an earlier request failed")
      fail()
    }
    #expect(pauses == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
    network.responded()
    #expect(!network.isDead && network.nextProbe == nil)
  }

  @Test func `the next load probes after a cancelled probe, or after half a minute without a result`() {
    fail()
    time.pass(.seconds(5))
    network.began()
    network.failed(LoadError(.cancelled, message: "cancelled"), "a", since: time.time.now())
    #expect(!network.isOffline)
    network.began()
    time.pass(.seconds(29))
    #expect(network.isOffline)
    time.pass(.seconds(1))
    #expect(!network.isOffline)
  }

  // MARK: Errors

  static let errors: [(LoadError, Duration, Bool, String)] = {
    let broken = LoadError(.connection, message: "no connection")
    var refused = broken
    refused.cause = .connectionRefused
    var moved = silence
    moved.cause = .pathChanged
    let unknown = LoadError(.unknownHost, message: "not found")
    return [
      (broken, .milliseconds(40), false, "a router reported no route"),
      (broken, .seconds(3), true, "no router responded"),
      (refused, .seconds(3), false, "the host refused"),
      (silence, .zero, true, "no response came back"), (moved, .zero, false, "the old path"),
      (unknown, .milliseconds(40), false, "a name server reported that the name does not exist"),
      (unknown, .seconds(5), true, "no name server responded"),
      (LoadError(.status, message: "", status: 503), .seconds(3), false, "a response"),
    ]
  }()

  @Test(arguments: errors)
  func `an error from the network shows that the network works`(
    _ error: LoadError,
    _ after: Duration,
    _ isDead: Bool,
    _ reason: String
  ) {
    time.pass(after)
    fail(error, since: .zero)
    #expect(network.isDead == isDead, "\(reason)")
  }

  // MARK: Attempts

  @PipelineActor private func fail(
    _ error: LoadError,
    from first: @Sendable (Int) -> String,
    to last: @Sendable (Int) -> String
  ) async throws -> RetryController {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1))
    for number in 0..<8 {
      let (url, target) = (try ImageURL(first(number)), try ImageURL(last(number)))
      do throws(LoadError) {
        try await controller.perform(url) { attempt async throws(LoadError) -> Void in
          attempt.redirected(to: target)
          throw error
        }
      } catch {
        continue
      }
    }
    return controller
  }

  @Test func `redirects to a server that is down do not count against the network`() async throws {
    let first: @Sendable (Int) -> String = { "http://h\($0).example/a" }
    let down = try await fail(Self.silence, from: first, to: { _ in "http://down.example/a" })
    #expect(!down.liveness.isDead)
    #expect(try await fail(Self.silence, from: first, to: first).liveness.isDead)
  }

  @Test func `this machine says nothing about the network`() async throws {
    let local: @Sendable (Int) -> String = { "http://127.0.0.\($0 + 1)/a" }
    #expect(try await !fail(Self.silence, from: local, to: local).liveness.isDead)
  }
}

import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Evidence for and against a network, beyond the plain cases.
@Suite struct NetworkLivenessTests {
  /// Makes eight attempts on two hosts fail, all started at one time.
  private func fail(_ network: inout NetworkLiveness, begun: Duration, at now: Duration) {
    for number in 0..<8 { _ = network.failed("h\(number % 2)", begun: begun, at: now) }
  }

  private func dead(at now: Duration = .zero) -> NetworkLiveness {
    var network = NetworkLiveness()
    fail(&network, begun: now, at: now)
    return network
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// In seconds: the last sign of life, the start of the attempts and their failure.
    let (sign, begun, failed): (Double, Double, Double)
    let isDead: Bool
  }

  static let rows = [
    Row(testDescription: "bytes came during the attempts", sign: 1, begun: 0, failed: 20, isDead: false),
    Row(testDescription: "bytes came as they began", sign: 1, begun: 1, failed: 20, isDead: false),
    Row(testDescription: "nothing came since they began", sign: 1, begun: 1.1, failed: 20, isDead: true),
    Row(testDescription: "bytes are arriving", sign: 1, begun: 1.1, failed: 2.9, isDead: false),
    Row(testDescription: "no more bytes are arriving", sign: 1, begun: 1.1, failed: 3, isDead: true),
  ]

  @Test(arguments: rows) func `only uninterrupted silence counts`(_ row: Row) {
    var network = NetworkLiveness()
    #expect(network.responded(isImage: false, at: .seconds(row.sign)) == false)
    fail(&network, begun: .seconds(row.begun), at: .seconds(row.failed))
    #expect(network.isDead == row.isDead)
  }

  @Test func `pages count if no image came for a minute`() {
    var network = NetworkLiveness()
    _ = network.responded(isImage: true, at: .zero)
    for _ in 0..<8 {
      for host in ["a", "b"] { #expect(network.recordPortalPage(host, at: .seconds(59)) == false) }
    }
    let turns = (0..<4).map { network.recordPortalPage("h\($0 % 2)", at: .seconds(60)) }
    #expect(turns == [false, false, false, true])
  }

  @Test func `a captive portal that responds does not deliver images`() {
    var network = NetworkLiveness()
    for number in 0..<4 {
      #expect(network.responded(isImage: false, at: .zero) == false, "the head of the page")
      _ = network.recordPortalPage("h\(number % 2)", at: .zero)
    }
    #expect(network.isDead)
    #expect(network.responded(isImage: false, at: .zero) == false)
    #expect(network.responded(isImage: true, at: .zero) == true)
    #expect(!network.isDead)
  }

  // MARK: Trials

  @Test func `only a failed probe prolongs the cooldown`() {
    var network = dead()
    #expect(network.began(at: .seconds(4)) == nil, "too early")
    let probe = network.began(at: .seconds(5))
    #expect(network.began(at: .seconds(5)) == nil, "one load probes at a time")
    fail(&network, begun: .zero, at: .seconds(6))
    for host in ["a", "b"] { _ = network.recordPortalPage(host, at: .seconds(6)) }
    #expect(network.probe(at: .seconds(6)) == .seconds(5), "it may end at any time")
    _ = network.failed("a", begun: .seconds(5), probe: probe, at: .seconds(15))
    #expect(network.probe(at: .seconds(15)) == .seconds(10))
    _ = network.failed("a", begun: .seconds(5), probe: probe, at: .seconds(16))
    #expect(network.probe(at: .seconds(16)) == .seconds(9), "it has failed once")
  }

  @Test func `the cooldown doubles with each failed probe, up to a minute`() throws {
    var network = dead()
    var now = Duration.zero
    var waits: [Duration] = []
    for _ in 0..<6 {
      let wait = try #require(network.probe(at: now))
      waits.append(wait)
      now += wait
      let probe = network.began(at: now)
      _ = network.failed("a", begun: now, probe: probe, at: now)
    }
    #expect(waits == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
  }

  @Test func `the next load probes after a probe is cancelled, or after a while without a result`() {
    var network = dead()
    let first = network.began(at: .seconds(5))
    network.probeAbandoned(first, at: .seconds(6))
    #expect(!network.isOffline(at: .seconds(6)))
    let second = network.began(at: .seconds(6))
    network.probeAbandoned(first, at: .seconds(7))
    #expect(network.isOffline(at: .seconds(35)), "the first probe has expired")
    #expect(!network.isOffline(at: .seconds(36)))
    let third = network.began(at: .seconds(36))
    #expect(third != nil && third != second)
    _ = network.failed("a", begun: .seconds(6), probe: second, at: .seconds(36))
    #expect(network.probe(at: .seconds(36)) == .seconds(5), "the third load probes")
  }

  @Test func `a probe on another network says nothing about this one`() {
    var network = dead()
    let old = network.began(at: .seconds(5))
    network.reset()
    fail(&network, begun: .seconds(5), at: .seconds(5))
    let new = network.began(at: .seconds(10))
    #expect(new != nil && old != new)
    _ = network.failed("a", begun: .seconds(5), probe: old, at: .seconds(10))
    #expect(network.began(at: .seconds(10)) == nil, "the new probe still runs")
  }

  // MARK: Errors

  static let errors: [(LoadError, Duration, Bool, String)] = {
    let broken = LoadError(.connection, message: "no connection")
    var refused = broken
    refused.retry.reason = .refused
    var unreachable = broken
    unreachable.retry.reason = .unreachable
    let unknown = LoadError(.unknownHost, message: "not found")
    return [
      (broken, .zero, true, "nothing came back"), (refused, .zero, false, "somebody refused"),
      (unreachable, .milliseconds(40), false, "a router reported no route"),
      (unreachable, .seconds(3), true, "no router responded"),
      (LoadError(.timeout, message: ""), .seconds(10), true, "nothing came back"),
      (unknown, .milliseconds(40), false, "a name server reported that the name does not exist"),
      (unknown, .seconds(5), true, "no name server responded"),
      (LoadError(.status, message: "", status: 503), .zero, false, "a response"),
    ]
  }()

  @Test(arguments: errors)
  func `an error from the network shows that the network works`(
    _ error: LoadError,
    _ time: Duration,
    _ counts: Bool,
    _ reason: String
  ) {
    #expect(NetworkLiveness.counts(error, after: time) == counts, "\(reason)")
  }
}

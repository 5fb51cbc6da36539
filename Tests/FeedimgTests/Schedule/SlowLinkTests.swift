import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The scheduler and its meter together, on links and servers of all speeds.
@Suite struct SlowLinkTests {
  @Test(arguments: [NetworkKind.wifi, .cellular])
  func `on a slow link visible images of one host arrive at the rate of the link`(network: NetworkKind) {
    var scene = LinkScene(network, linkRate: 250_000)
    for number in 0..<100 { scene.enter("p\(number)", .prefetch, host: "a", bytes: 62_500) }
    scene.pass(.seconds(5))
    let names = (0..<6).map { "v\($0)" }
    for name in names { scene.enter(name, .visible, host: "a", bytes: 62_500) }
    #expect(scene.pass(atMost: .seconds(1.5 * 1.15), until: names) != nil)
    #expect(scene.link.limits.besideUrgent == 0)
  }

  @Test(arguments: [NetworkKind.wifi, .cellular])
  func `a server that drips never delays other hosts`(network: NetworkKind) throws {
    var scene = LinkScene(network, linkRate: 2_500_000, serverRates: ["a": 200])
    for number in 0..<10 { scene.enter("a\(number)", .visible, host: "a", bytes: 1e9) }
    scene.pass(.seconds(5))
    let names = (0..<20).map { "n\($0)" }
    for name in names { scene.enter(name, .near, host: "b", bytes: 60_000) }
    // The time is a second at the rate of the link, and the round trips.
    #expect(scene.pass(atMost: .seconds(2), until: names) != nil)
    #expect(try #require(scene.link.reported) > 4_000_000)
  }

  @Test(arguments: [20_000.0, 200_000])
  func `two slow servers delay visible images of another host for a second`(rate: Double) {
    var scene = LinkScene(.wifi, linkRate: 2_500_000, serverRates: ["a": rate, "b": rate])
    for host in ["a", "b"] { scene.enter(host, .visible, host: host, bytes: 1e9) }
    scene.pass(.seconds(5))
    let names = (0..<20).map { "c\($0)" }
    for name in names { scene.enter(name, .visible, host: "c", bytes: 60_000) }
    #expect(scene.pass(atMost: .seconds(5), until: names) != nil)
  }

  @Test(arguments: 1...4)
  func `on a slow link near images of another host take little from visible ones`(count: Int) throws {
    var scene = LinkScene(.wifi, linkRate: 250_000)
    for number in 0..<count { scene.enter("v\(number)", .visible, host: "a", bytes: 1e9) }
    for number in 0..<50 { scene.enter("n\(number)", .near, host: "b", bytes: 62_500) }
    scene.pass(.seconds(60))
    // A near download gets an extra slot every ten seconds.
    #expect(try #require(scene.received["a"]) > 0.93 * 60 * 250_000)
  }

  @Test func `a link that becomes slow is noticed after several hosts sent more just before`() throws {
    var scene = LinkScene(.wifi, linkRate: 2_500_000)
    for number in 0..<2 { scene.enter("a\(number)", .visible, host: "a", bytes: 1e9) }
    scene.pass(.seconds(2))
    scene.enter("b", .visible, host: "b", bytes: 5e6)
    #expect(scene.pass(atMost: .seconds(9), until: ["b"]) != nil)
    scene.linkRate = 60_000
    scene.pass(.seconds(45))
    #expect(scene.link.limits.besideUrgent == 0)
    #expect(try #require(scene.link.reported) < 1_000_000)
  }

  @Test(arguments: [["a"], ["a", "b"]])
  func `a link that becomes slow is noticed`(hosts: [String]) throws {
    var scene = LinkScene(.wifi, linkRate: 2_500_000)
    for host in hosts {
      for number in 0..<4 { scene.enter("\(host)\(number)", .visible, host: host, bytes: 1e9) }
    }
    scene.pass(.seconds(5))
    #expect(scene.link.limits.besideUrgent > 0)
    scene.linkRate = 60_000
    scene.pass(.seconds(20))
    #expect(scene.link.limits.besideUrgent == 0)
    #expect(try #require(scene.link.reported) < 1_000_000)
  }
}

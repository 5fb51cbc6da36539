import FeedimgSystem
import FeedimgTesting
import Testing

@testable import FeedimgReachability

@Suite struct RouteMessageTests {
  private func read(_ recording: Recording) -> Route? {
    guard case .route(let route)? = recording.read({ RouteReply($0) }) else { return nil }
    return route
  }

  @Test func `a default route has a gateway, a metric and one nextHop`() throws {
    let route = try #require(read(RouteRecordings.wifi))
    #expect(route == Route(family: .v4, nextHops: [.init(index: 5, gateway: .v4(0x0a01_0001))], metric: 600))
    #expect(route.text(route.nextHop, device: "wlan0") == "default via 10.1.0.1 dev wlan0")
  }

  @Test func `the route of a packet has its source address`() throws {
    #expect(try #require(read(RouteRecordings.wifiPacket)).source == .v4(0x0a01_0002))
  }

  @Test func `a route over a tunnel has no gateway`() throws {
    let route = try #require(read(RouteRecordings.wireguard))
    #expect(route.text(route.nextHop, device: "wg0") == "default dev wg0")
  }

  @Test func `the first live nextHop counts`() throws {
    let route = try #require(read(RouteRecordings.nextHops))
    #expect(route.nextHops.map(\.index) == [5, 7])
    #expect(route.nextHop == .init(index: 7, gateway: .v4(0x0a02_0001)))
  }

  @Test func `a gateway may be of the other family`() throws {
    let route = try #require(read(RouteRecordings.gatewayOfOtherFamily))
    #expect(route.text(route.nextHop, device: "eth0") == "default via fe80::1 dev eth0")
  }

  @Test func `a route for half of the internet is shown as such`() {
    let route = Route(
      family: .v4,
      destination: .v4(0x8000_0000),
      prefixLength: 1,
      nextHops: [.init(index: 1)]
    )
    #expect(route.text(route.nextHop, device: "tun0") == "128.0.0.0/1 dev tun0")
    let lower = Route(family: .v4, prefixLength: 1, nextHops: [.init(index: 1)])
    #expect(lower.text(lower.nextHop, device: "tun0") == "0.0.0.0/1 dev tun0")
  }

  @Test(arguments: [
    (RouteRecordings.none, NoRoute.missing),
    (RouteRecordings.blackhole, .blackhole),
  ])
  func `the kernel's error number gives the reason for no route`(
    _ recording: Recording,
    _ expected: NoRoute
  ) throws {
    let number = try #require(recording.read { $0.errorNumber })
    #expect(RouteRequest.reply(errorNumber: number) == RouteReply.none(expected))
  }

  @Test func `any other error number is a failure`() {
    for number: Int32 in [0, 1, 5, 12, 105] {
      #expect(RouteRequest.reply(errorNumber: number) == nil)
    }
  }

  @Test func `marks are read from rules`() throws {
    let mark = RouteRecordings.ruleOfWireGuard.read { RuleMark($0) }
    #expect(mark == RuleMark(mark: 51820, isInverted: true))
    #expect(RouteRecordings.ruleOfMain.read { RuleMark($0) } == nil)
  }

  @Test func `marks that exempt a tunnel's packets come first, each once`() {
    let rules: [(UInt32, Bool)] = [(1, false), (2, true), (1, true), (3, false)]
    #expect(RuleMark.inOrder(rules.map { RuleMark(mark: $0.0, isInverted: $0.1) }) == [2, 1, 3])
  }

  @Test(arguments: [
    ("fe80::1", false), ("fd00::2", false), ("fc00::", false), ("::1", false), ("2001:db8::1", true),
    ("64:ff9b::1", true), ("febf::1", false), ("fec0::1", true),
  ])
  func `source addresses of the internet are recognised`(_ text: String, _ isInternet: Bool) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == text)
    #expect(address.isInternetSource == isInternet)
  }
}

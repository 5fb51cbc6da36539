import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgReachability

@Suite struct NetworkAdviceTests {
  private static func path(_ links: Link..., end: NetworkKind, isTether: Bool = false) -> NetworkPath {
    NetworkPath(
      route: Route(family: .v4, nextHops: [.init(index: 1)]),
      nextHop: .init(index: 1),
      links: links,
      end: LinkClass(medium: end, isTether: isTether, reason: "")
    )
  }

  private static let wifi = Link(index: 3, name: "wlan0")
  private static let modem = Link(index: 4, name: "wwan0")
  private static let bridge = Link(index: 5, name: "br0", kind: "bridge")
  private static let tunnel = Link(index: 6, name: "wg0", kind: "wireguard")

  @Test func `without services there is no advice`() {
    let advice = NetworkAdvice(on: Self.path(Self.wifi, end: .wifi), FakeBus())
    #expect(advice == NetworkAdvice())
  }

  @Test func `advice about a tunnel does not count`() {
    let bus = FakeBus(devices: ["wg0": 1, "wlan0": 2])
    #expect(
      NetworkAdvice(on: Self.path(Self.tunnel, Self.wifi, end: .wifi), bus).statement == .networkManager(.no)
    )
  }

  @Test func `a bridge has the setting if its port has none`() {
    let bus = FakeBus(devices: ["br0": 1, "wlan0": 0])
    #expect(
      NetworkAdvice(on: Self.path(Self.bridge, Self.wifi, end: .wifi), bus).statement == .networkManager(.yes)
    )
  }

  @Test(arguments: [(1, false), (5, true), (7, true), (4, false), (8, false), (10, true)])
  func `a registration state is roaming or not`(_ state: UInt32, _ isRoaming: Bool) {
    let bus = FakeBus(modems: ["wwan0": (state, false)])
    #expect(NetworkAdvice(on: Self.path(Self.modem, end: .cellular), bus).isRoaming == isRoaming)
  }

  @Test func `a phone's modem is not requested`() {
    let bus = FakeBus(modems: ["wwan0": (5, true)])
    let advice = NetworkAdvice(on: Self.path(Self.modem, end: .cellular, isTether: true), bus)
    #expect(advice == NetworkAdvice())
  }

  @Test func `a captive portal is reported for the device that carries the data`() {
    let bus = FakeBus(devices: ["wlan0": 0], captive: ["wlan0"])
    #expect(NetworkAdvice(on: Self.path(Self.wifi, end: .wifi), bus).isCaptive)
    #expect(!NetworkAdvice(on: Self.path(Self.modem, end: .cellular), bus).isCaptive)
  }

  @Test func `the desktop portal decides if no service knows the device`() {
    let costly = NetworkAdvice(statement: .portal, isCaptive: true)
    let silent = NetworkAdvice()
    var advice = NetworkAdvice()
    advice.join(silent)
    #expect(advice == NetworkAdvice())
    advice.join(costly)
    #expect(advice == NetworkAdvice(statement: .portal, isCaptive: true))
    advice = NetworkAdvice(statement: .networkManager(.no))
    advice.join(costly)
    #expect(advice.statement == .networkManager(.no))
  }
}

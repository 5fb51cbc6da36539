import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgReachability

@Suite struct NetworkSurveyTests {
  private typealias Machine = PathResolverTests

  @Test func `a state lists the path in the order of the data`() throws {
    var kernel = Machine.machine.routed(9).routed(3, mark: 7)
    kernel.marks = [7]
    let state = try NetworkSurvey(kernel: kernel).state()
    #expect(
      state
        == NetworkState(
          kind: .wifi,
          metered: .no,
          device: "wg0",
          via: ["wg0", "wlan0"],
          route: "default dev wg0",
          isTunnelled: true,
          reason: "`wlan0` is connected to a Wi-Fi network",
          meteredReason: "there is no sign that data costs on this Wi-Fi"
        )
    )
  }

  @Test func `no route is offline, with the reason`() throws {
    let state = try NetworkSurvey(kernel: Machine.machine).state()
    #expect(state.kind == .offline)
    #expect(!state.isReachable)
    #expect(state.reason == "there is no route to the internet")
  }

  @Test func `IPv6 alone is enough`() throws {
    let state = try NetworkSurvey(kernel: Machine.machine.routed(3, family: .v6)).state()
    #expect(state.kind == .wifi)
  }

  @Test func `an IPv6 link without a global address does not count`() throws {
    var kernel = Machine.machine.routed(3, family: .v6)
    let question = RouteRequest(destination: AddressFamily.v6.probes[0], wantsEntry: false)
    for (source, kind) in [
      (IPAddress.v6(0xfd00 << 48, 2), NetworkKind.offline), (.v6(0x2001 << 48, 2), .wifi),
    ] {
      kernel.routes[question] = .route(Route(family: .v6, nextHops: [.init(index: 3)], source: source))
      #expect(try NetworkSurvey(kernel: kernel).state().kind == kind, "\(source)")
    }
  }

  @Test func `if the path of IPv6 is metered, some of the data is metered`() throws {
    let state = try NetworkSurvey(kernel: Machine.machine.routed(3).routed(4, family: .v6)).state()
    #expect(state.kind == .wifi)
    #expect(state.metered == .yes)
    #expect(state.meteredReason == "the data is mobile data, over `wwan0`")
  }

  @Test func `roaming on the path of IPv6 counts, even if IPv4 costs as much`() throws {
    let survey = NetworkSurvey(
      kernel: Machine.machine.routed(3).routed(4, family: .v6),
      mark: { $0 == [.device("wlan0")] ? .yes : nil },
      advise: { NetworkAdvice(isRoaming: $0.end.medium == .cellular) }
    )
    let state = try survey.state()
    #expect((state.kind, state.metered, state.isRoaming) == (.wifi, .yes, true))
  }

  struct Peer: CustomTestStringConvertible, Sendable {
    var address: String
    var kind: NetworkKind
    var because: String
    var testDescription: String { address }
  }

  @Test(arguments: [
    Peer(address: "", kind: .wifi, because: "no server has responded yet, and IPv4 takes precedence"),
    Peer(
      address: "9.9.9.9",
      kind: .cellular,
      because: "data takes the path to the last server that responded"
    ),
    Peer(address: "9.9.9.10", kind: .wifi, because: "the path to this host is the path to all hosts"),
    Peer(address: "192.168.1.9", kind: .wifi, because: "a local host is not on the internet"),
    Peer(address: "127.0.0.1", kind: .wifi, because: "this host is not on the internet"),
    Peer(address: "203.0.113.9", kind: .wifi, because: "an address of documents is not on the internet"),
    Peer(address: "2620:fe::9", kind: .ethernet, because: "the last response came over IPv6"),
    Peer(address: "fd00::9", kind: .wifi, because: "a local address is not on the internet"),
    Peer(address: "images.example", kind: .wifi, because: "a name is not an address"),
  ])
  func `the path to the last server that responded takes precedence`(_ peer: Peer) throws {
    var kernel = Machine.machine.routed(3).routed(2, family: .v6)
    let routes: [(String, Int32)] = [
      ("9.9.9.9", 4), ("203.0.113.9", 4), ("192.168.1.9", 2), ("127.0.0.1", 2), ("fd00::9", 2),
    ]
    for (address, index) in routes {
      let address = try #require(IPAddress(address))
      kernel.routes[RouteRequest(destination: address)] = .route(
        Route(family: address.family, nextHops: [.init(index: index)])
      )
    }
    let state = try NetworkSurvey(kernel: kernel, peer: IPAddress(peer.address)).state()
    #expect(state.kind == peer.kind, "\(peer.because)")
  }

  @Test func `if one of several live nextHops is metered, some of the data is metered`() throws {
    var kernel = Machine.machine
    let question = RouteRequest(destination: AddressFamily.v4.probes[0])
    for (isDead, metered) in [(false, Metered.yes), (true, .no)] {
      kernel.routes[question] = .route(
        Route(family: .v4, nextHops: [.init(index: 3), .init(index: 4, isDead: isDead)])
      )
      let state = try NetworkSurvey(kernel: kernel).state()
      #expect((state.kind, state.metered) == (.wifi, metered))
    }
  }

  @Test(
    arguments: [
      (3, "café", [.ssid("café"), .device("wlan0")], "a Wi-Fi network has its own name first"),
      (3, "", [.device("wlan0")], "an empty name does not count"),
      (3, nil, [.device("wlan0")], "the name is unknown"),
      (2, nil, [.device("eth0")], "a cable has no name"),
    ] as [(Int32, String?, [NetworkName], String)]
  )
  func `the user's mark is found by the names of the network`(
    _ index: Int32,
    _ ssid: String?,
    _ names: [NetworkName],
    _ reason: String
  ) throws {
    var kernel = Machine.machine.routed(index)
    kernel.networks["wlan0"] = WirelessNetwork(name: ssid)
    let survey = NetworkSurvey(kernel: kernel, mark: { $0 == names ? .yes : nil })
    let state = try survey.state()
    #expect(state.meteredReason == "the user marked this network as metered", "\(reason)")
  }

  @Test(arguments: AddressFamily.allCases)
  func `a modem during a call carries no data, so the other protocol decides`(_ family: AddressFamily) throws
  {
    let kernel = Machine.machine.routed(4, family: family)
    let advise = { (path: NetworkPath) in NetworkAdvice(isSuspended: path.end.medium == .cellular) }
    let alone = try NetworkSurvey(kernel: kernel, advise: advise).state()
    #expect(alone.kind == .offline)
    #expect(alone.reason == "the modem of `wwan0` is suspended, as during a call")
    let other: AddressFamily = family == .v4 ? .v6 : .v4
    let state = try NetworkSurvey(kernel: kernel.routed(3, family: other), advise: advise).state()
    #expect((state.kind, state.metered) == (.wifi, .no))
  }

  @Test(arguments: [[3, 4], [4, 3]] as [[Int32]])
  func `of several next hops, a modem during a call does not count`(_ indexes: [Int32]) throws {
    var kernel = Machine.machine
    kernel.routes[RouteRequest(destination: AddressFamily.v4.probes[0])] = .route(
      Route(family: .v4, nextHops: indexes.map { .init(index: $0) })
    )
    let survey = NetworkSurvey(
      kernel: kernel,
      advise: { NetworkAdvice(isSuspended: $0.end.medium == .cellular) }
    )
    let state = try survey.state()
    #expect((state.kind, state.metered, state.device) == (.wifi, .no, "wlan0"))
  }

  @Test func `a captive portal does not count as offline`() throws {
    let survey = NetworkSurvey(
      kernel: Machine.machine.routed(3),
      advise: { _ in NetworkAdvice(isCaptive: true) }
    )
    let state = try survey.state()
    #expect(state.kind == .wifi)
    #expect(state.isCaptive && state.isReachable)
  }

  @Test func `a kernel that refuses requests is an error, not offline`() {
    var kernel = Machine.machine
    kernel.refusal = NetlinkError(code: .refused, number: 1)
    #expect(throws: NetlinkError(code: .refused, number: 1)) { try NetworkSurvey(kernel: kernel).state() }
  }
}

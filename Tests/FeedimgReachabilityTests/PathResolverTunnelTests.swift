import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgReachability

extension PathResolverTests {
  @Test(arguments: tunnelRows)
  func `a tunnel has the class of the link that carries it`(_ row: Row) throws {
    try self.`the path ends at the link that carries the data`(row)
  }

  private static let mark: UInt32 = 0xca6c
  private static let gre = Link(
    index: 13,
    name: "gre1",
    hardwareType: 778,
    kind: "gre",
    remote: .v4(0xc633_640a)
  )
  /// 9.9.9.9, a server on the internet.
  private static let server = IPAddress.v4(0x0909_0909)
  private static let ppp = Link(index: 14, name: "ppp0", hardwareType: HardwareType.ppp, kind: "ppp")

  private static func over(_ carrier: Int32, to remote: IPAddress) -> FakeKernel {
    var kernel = machine(gre).routed(13)
    kernel.routes[RouteRequest(destination: remote)] = .route(
      Route(family: .v4, nextHops: [.init(index: carrier)])
    )
    return kernel
  }

  private static func calling(_ sessions: String...) -> FakeKernel {
    var kernel = machine(ppp).routed(14)
    kernel.pppoe = sessions
    return kernel
  }

  private static var marked: FakeKernel {
    var kernel = machine.routed(9).routed(3, mark: mark)
    kernel.marks = [mark]
    return kernel
  }

  static let tunnelRows: [Row] = [
    Row(
      name: "WireGuard with the rules of wg-quick",
      kernel: marked,
      via: ["wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "its own packets carry the mark and take the other table"
    ),
    Row(
      name: "VPN beside the former default route",
      kernel: machine.routed(9).routed(4, device: 4, metric: 700).routed(3, device: 3, metric: 600),
      via: ["wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "the best default route of a link that is not a tunnel"
    ),
    Row(
      name: "VPN where the routes to single hosts cannot be listed",
      kernel: machine.routed(9).routed(4, device: 4, metric: 700).routed(3, device: 3, metric: 600)
        .refusingHostRoutes(),
      via: ["wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "the best default route of a link that is not a tunnel"
    ),
    Row(
      name: "VPN with a route to its gateway beside the former default route",
      kernel: machine.routed(9).routed(3, device: 3, metric: 600).withHostRoutes(4, to: server),
      via: ["wg0", "wwan0"],
      medium: .cellular,
      isTunnelled: true,
      because: "the tunnel's own packets take the route to the gateway"
    ),
    Row(
      name: "VPN beside routes to hosts over several links",
      kernel: machine.routed(9).routed(3, device: 3, metric: 600).withHostRoutes(4, to: server)
        .withHostRoutes(3, to: .v4(0x0909_090a)),
      via: ["wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "no sign tells which of the hosts is the gateway"
    ),
    Row(
      name: "VPN beside a route to a private host",
      kernel: machine.routed(9).routed(3, device: 3, metric: 600).withHostRoutes(4, to: .v4(0x0a00_0001)),
      via: ["wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "a gateway has a public address"
    ),
    Row(
      name: "VPN beside a route to the services of a cloud",
      kernel: machine.routed(9).routed(3, device: 3, metric: 600).withHostRoutes(4, to: .v4(0xa83f_8110)),
      via: ["wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "168.63.129.16 is not on the internet"
    ),
    Row(
      name: "mark that leads back into the tunnel",
      kernel: machine.routed(9).routed(9, mark: mark).routed(4, device: 4),
      via: ["wg0", "wwan0"],
      medium: .cellular,
      isTunnelled: true,
      because: "that mark is for something else"
    ),
    Row(
      name: "VPN with no other route, hardware of one kind",
      kernel: FakeKernel(links: [modem, wireguard]).routed(9),
      via: ["wg0", "wwan0"],
      medium: .cellular,
      isTunnelled: true,
      because: "only the modem can carry it"
    ),
    Row(
      name: "VPN with no other route, hardware of several kinds",
      kernel: machine.routed(9),
      via: ["wg0"],
      medium: .other,
      isTunnelled: true,
      because: "no sign decides"
    ),
    Row(
      name: "VPN with no other route, among very many links",
      kernel: {
        var kernel = FakeKernel(links: [wireguard]).routed(9)
        kernel.links += (100..<130).map { Link(index: $0, name: "eth\($0)") }
        return kernel
      }(),
      via: ["wg0"],
      medium: .other,
      isTunnelled: true,
      isVirtual: true,
      because: "following all of them would take long and decide nothing"
    ),
    Row(
      name: "tunnel alone in a namespace",
      kernel: FakeKernel(links: [wireguard]).routed(9),
      via: ["wg0"],
      medium: .other,
      isTunnelled: true,
      isVirtual: true,
      because: "its packets leave from another namespace"
    ),
    Row(
      name: "tunnel over dead hardware",
      kernel: FakeKernel(links: [change(ethernet) { $0.flags = cut }, wireguard]).routed(9),
      via: [],
      because: "nothing can carry it"
    ),
    Row(
      name: "GRE to a server behind the modem",
      kernel: over(4, to: .v4(0xc633_640a)),
      via: ["gre1", "wwan0"],
      medium: .cellular,
      isTunnelled: true,
      because: "the kernel knows the other end"
    ),
    Row(
      name: "GRE to nowhere",
      kernel: machine(gre).routed(13),
      via: [],
      because: "no route to the other end"
    ),
    Row(
      name: "tunnel in a tunnel",
      kernel: {
        var kernel = over(9, to: .v4(0xc633_640a)).routed(3, mark: mark)
        kernel.marks = [mark]
        return kernel
      }(),
      via: ["gre1", "wg0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "both are followed"
    ),
    Row(
      name: "raw IP modem",
      kernel: {
        var kernel = machine(change(modem) { $0.kind = nil }).routed(4)
        kernel.devices["wwan0"] = Hardware(deviceType: "wwan")
        return kernel
      }(),
      via: ["wwan0"],
      medium: .cellular,
      because: "the same type of hardware as a tunnel's, but with a device"
    ),
    Row(
      name: "DSL",
      kernel: calling("eth0"),
      via: ["ppp0", "eth0"],
      medium: .ethernet,
      because: "/proc/net/pppoe names the carrier"
    ),
    Row(
      name: "dialled modem",
      kernel: calling(),
      via: ["ppp0"],
      medium: .cellular,
      because: "there is no PPPoE at all"
    ),
    Row(
      name: "a VPN that uses pppd",
      kernel: {
        var kernel = calling().routed(3, device: 3, metric: 600)
        kernel.tunnelsOfPPP = ["ppp0"]
        return kernel
      }(),
      via: ["ppp0", "wlan0"],
      medium: .wifi,
      isTunnelled: true,
      because: "its command line shows it"
    ),
    Row(
      name: "one of several connections of a modem",
      kernel: {
        let mux = Link(index: 15, name: "qmimux0", hardwareType: HardwareType.none)
        var kernel = machine(mux).routed(15)
        kernel.lower["qmimux0"] = 4
        return kernel
      }(),
      via: ["qmimux0", "wwan0"],
      medium: .cellular,
      because: "sysfs shows the modem below"
    ),
    Row(
      name: "DSL and a dialled modem at once",
      kernel: {
        var kernel = calling("eth0")
        kernel.links.append(change(ppp) { ($0.index, $0.name) = (15, "ppp1") })
        return kernel
      }(),
      via: ["ppp0"],
      medium: .other,
      because: "no sign assigns the sessions"
    ),
  ]
}

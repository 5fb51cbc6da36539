import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgReachability

@Suite struct PathResolverTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var kernel: FakeKernel
    /// The links from the top to the hardware.
    ///
    /// Empty without a path.
    var via: [String]
    var medium: NetworkKind = .offline
    var isTunnelled = false
    var isVirtual = false
    var because: String
    var testDescription: String { name }
  }

  @Test(arguments: rows)
  func `the path ends at the link that carries the data`(_ row: Row) throws {
    guard case .path(let path) = try PathResolver(kernel: row.kernel).find(.v4) else {
      #expect(row.via.isEmpty, "\(row.because)")
      return
    }
    #expect(path.links.map(\.name) == row.via, "\(row.because)")
    #expect(path.end.medium == row.medium, "\(row.because)")
    #expect(path.isTunnelled == row.isTunnelled, "\(row.because)")
    #expect(path.end.isVirtual == row.isVirtual, "\(row.because)")
  }

  static let ethernet = Link(index: 2, name: "eth0")
  static let wifi = Link(index: 3, name: "wlan0")
  static let modem = Link(index: 4, name: "wwan0", hardwareType: HardwareType.none, kind: "wwan")
  static let wireguard = Link(index: 9, name: "wg0", hardwareType: HardwareType.none, kind: "wireguard")
  static let container = Link(index: 7, name: "veth7", kind: "veth", lower: 2, isLowerElsewhere: true)
  static let off = LinkFlags.lowerUp
  static let cut = LinkFlags.up

  static let machine = FakeKernel(
    links: [ethernet, wifi, modem, wireguard, container],
    devices: ["wlan0": Hardware(deviceType: "wlan", wirelessMode: .client)]
  )

  static func machine(_ links: Link...) -> FakeKernel {
    var kernel = machine
    kernel.links.removeAll { old in links.contains { $0.index == old.index } }
    kernel.links += links
    return kernel
  }

  static func change(_ link: Link, _ body: (inout Link) -> Void) -> Link {
    var link = link
    body(&link)
    return link
  }
}

extension PathResolverTests {
  static let rows: [Row] = [
    Row(name: "no route", kernel: machine, via: [], because: "the kernel reports it"),
    Row(
      name: "Ethernet",
      kernel: machine.routed(2),
      via: ["eth0"],
      medium: .ethernet,
      because: "the route leads there"
    ),
    Row(
      name: "Wi-Fi",
      kernel: machine.routed(3),
      via: ["wlan0"],
      medium: .wifi,
      because: "the route leads there"
    ),
    Row(
      name: "carrier lost",
      kernel: machine(change(ethernet) { $0.flags = cut }).routed(2),
      via: [],
      because: "the kernel still routes into it, but no packet leaves"
    ),
    Row(
      name: "WPA not through",
      kernel: machine(change(wifi) { $0.operationalState = OperationalState.dormant }).routed(3),
      via: [],
      because: "dormant is not usable, though the carrier is up"
    ),
    Row(
      name: "container",
      kernel: machine.routed(7),
      via: ["veth7"],
      medium: .ethernet,
      isVirtual: true,
      because: "the lower index belongs to another namespace"
    ),
    Row(
      name: "cable whose lower link has its own index",
      kernel: machine(change(container) { $0.lower = 7 }).routed(7),
      via: ["veth7"],
      medium: .ethernet,
      isVirtual: true,
      because: "a veth's other end is not below it"
    ),
    Row(
      name: "VLAN on Wi-Fi",
      kernel: machine(Link(index: 11, name: "wlan0.5", kind: "vlan", lower: 3)).routed(11),
      via: ["wlan0.5", "wlan0"],
      medium: .wifi,
      because: "the link below decides"
    ),
    Row(
      name: "macvlan on a link of another namespace",
      kernel: machine(Link(index: 11, name: "mv0", kind: "macvlan", lower: 3, isLowerElsewhere: true)).routed(
        11
      ),
      via: ["mv0"],
      medium: .ethernet,
      isVirtual: true,
      because: "the link 3 of this namespace is a different one"
    ),
    Row(
      name: "links in a circle",
      kernel: machine(
        Link(index: 11, name: "a", kind: "vlan", lower: 12),
        Link(index: 12, name: "b", kind: "vlan", lower: 11)
      ).routed(11),
      via: ["a", "b"],
      medium: .other,
      isVirtual: true,
      because: "links may change while they are followed"
    ),
    Row(
      name: "link below has gone",
      kernel: machine(Link(index: 11, name: "a", kind: "vlan", lower: 12)).routed(11),
      via: ["a"],
      medium: .other,
      isVirtual: true,
      because: "connected, but over unknown hardware"
    ),
    Row(
      name: "bridge of a card and a virtual machine",
      kernel: machine(
        Link(index: 11, name: "br0", kind: "bridge"),
        change(ethernet) { $0.master = 11 },
        Link(index: 12, name: "tap0", kind: "tun", master: 11),
        change(container) { $0.master = 11 }
      ).routed(11),
      via: ["br0", "eth0"],
      medium: .ethernet,
      because: "the card has an uplink, the virtual machines do not"
    ),
    Row(
      name: "bridge of containers",
      kernel: machine(
        Link(index: 11, name: "docker0", kind: "bridge"),
        change(container) { $0.master = 11 }
      ).routed(11),
      via: ["docker0", "veth7"],
      medium: .ethernet,
      isVirtual: true,
      because: "a bridge is as virtual as its ports"
    ),
    Row(
      name: "bond, one port active",
      kernel: machine(
        Link(index: 11, name: "bond0", kind: "bond", activePort: 3),
        change(ethernet) { $0.master = 11 },
        change(wifi) { $0.master = 11 }
      ).routed(11),
      via: ["bond0", "wlan0"],
      medium: .wifi,
      because: "data takes the active port"
    ),
    Row(
      name: "bond of different kinds, all active",
      kernel: machine(
        Link(index: 11, name: "bond0", kind: "bond"),
        change(ethernet) { $0.master = 11 },
        change(wifi) { $0.master = 11 }
      ).routed(11),
      via: ["bond0"],
      medium: .other,
      because: "data takes both"
    ),
  ]
}

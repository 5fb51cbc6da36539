import FeedimgModel

extension LivePathTests {
  private static let missing = "there is no route to the internet"

  private static func cable(_ name: String) -> String {
    "`\(name)` is a virtual Ethernet cable, as in containers"
  }

  static let rows: [Row] = [
    Row(name: "two links with addresses, no default route", setup: "", reason: missing),
    Row(
      name: "a bridge to a container only, as Docker makes it",
      setup: """
        link add docker0 type bridge
        link add veth0 master docker0 type veth peer name inside
        link set veth0 up
        link set inside up
        link set docker0 up
        addr add 172.17.0.1/16 dev docker0
        """,
      reason: missing
    ),
    Row(
      name: "metrics decide between two default routes",
      setup: "route add default via 198.51.100.1 metric 700\nroute add default via 192.0.2.1 metric 600",
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "carrier lost, the route still there",
      setup: "route add default via 192.0.2.1\nlink set left1 down",
      reason: "`left` has no carrier"
    ),
    Row(
      name: "carrier lost, with dead routes ignored",
      setup: """
        route add default via 192.0.2.1 metric 600
        route add default via 198.51.100.1 metric 700
        link set left1 down
        """,
      switches: [
        "ipv4/conf/all/ignore_routes_with_linkdown": "1", "ipv4/conf/left/ignore_routes_with_linkdown": "1",
      ],
      kind: .ethernet,
      via: ["right"],
      reason: cable("right")
    ),
    Row(
      name: "of two nextHops, the first has lost its carrier",
      setup: "route add default nexthop via 192.0.2.1 nexthop via 198.51.100.1\nlink set left1 down",
      kind: .ethernet,
      via: ["right"],
      reason: cable("right")
    ),
    Row(
      name: "a default route in a table of its own",
      setup: "route add default via 192.0.2.1 table 100\nrule add from all lookup 100",
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "a rule for this user",
      setup: """
        route add default via 192.0.2.1
        route add default via 198.51.100.1 table 100
        rule add uidrange 0-4294967294 lookup 100
        """,
      kind: .ethernet,
      via: ["right"],
      reason: cable("right")
    ),
    Row(
      name: "a rule for another user",
      setup: """
        route add default via 192.0.2.1
        route add default via 198.51.100.1 table 100
        rule add uidrange 4294967293-4294967293 lookup 100
        """,
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "blackhole",
      setup: "route add default via 192.0.2.1 metric 9\nroute add blackhole default",
      reason: "the route to the internet is a blackhole"
    ),
    Row(
      name: "prohibited",
      setup: "route add prohibit default",
      reason: "the route to the internet is prohibited"
    ),
    Row(
      name: "unreachable",
      setup: "route add unreachable default",
      reason: "the route to the internet is marked unreachable"
    ),
    Row(
      name: "unreachable as a last resort, and a real route",
      setup: "route add unreachable default metric 4278198272\nroute add default via 192.0.2.1",
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "all of the internet is this host",
      setup: "route add local default dev lo",
      reason: "the route to the internet leads back to this host"
    ),
    Row(
      name: "one half of the internet",
      setup: "route add 0.0.0.0/1 via 192.0.2.1",
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "macvlan",
      setup: """
        link add link left name m0 type macvlan
        link set m0 up
        route add default dev m0
        """,
      kind: .ethernet,
      via: ["m0", "left"],
      reason: cable("left")
    ),
    Row(
      name: "macvlan on a link that is switched off",
      setup: """
        link add link left name m0 type macvlan
        link set m0 up
        route add default dev m0
        link set left down
        """,
      reason: "`m0` has no carrier"
    ),
    Row(
      name: "bridge of a cable and a virtual machine",
      setup: """
        link add br0 type bridge
        tuntap add tap0 mode tap
        link set tap0 master br0 up
        link set left master br0
        link set br0 up
        route add default dev br0
        """,
      kind: .ethernet,
      via: ["br0", "left"],
      reason: cable("left")
    ),
    Row(
      name: "VXLAN to a server behind a cable",
      setup: """
        link add x0 type vxlan id 7 remote 203.0.113.9 dstport 4789
        link set x0 up
        route add 203.0.113.9 via 198.51.100.1
        route add default dev x0
        """,
      kind: .ethernet,
      via: ["x0", "right"],
      reason: cable("right")
    ),
    Row(
      name: "VXLAN to a server without a route",
      setup: """
        link add x0 type vxlan id 7 remote 203.0.113.9 dstport 4789
        link set x0 up
        route add 203.0.0.0/8 via 192.0.2.1 table 100
        route add 0.0.0.0/1 dev x0
        route add 193.0.0.0/8 dev x0
        """,
      reason: "there is no route to the other end of the tunnel `x0`"
    ),
    Row(
      name: "a device that only software knows",
      setup: "link add i0 type ifb\nlink set i0 up\nroute add default dev i0",
      kind: .other,
      via: ["i0"],
      reason: "`i0` is a software device (ifb), so its hardware is unknown"
    ),
    Row(
      name: "a cable with a Wi-Fi name",
      setup:
        "link set left down\nlink set left name wlan9\nlink set wlan9 up\nroute add default via 192.0.2.1",
      kind: .ethernet,
      via: ["wlan9"],
      reason: cable("wlan9")
    ),
  ]

  private static let ipv6Only = """
    addr flush dev left
    addr add 2001:db8::2/64 dev left nodad
    """

  static let ipv6Rows: [Row] = [
    Row(
      name: "IPv6 only",
      setup: "\(ipv6Only)\nroute add default via 2001:db8::1",
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "IPv6 with a local address only",
      setup: "addr add fd00::2/64 dev left nodad\nroute add default via fd00::1",
      reason: "this host has no global IPv6 address"
    ),
    Row(name: "IPv6 blackhole", setup: "\(ipv6Only)\nroute add blackhole ::/0", reason: missing),
    Row(
      name: "IPv6 carrier lost",
      setup: "\(ipv6Only)\nroute add default via 2001:db8::1\nlink set left1 down",
      reason: missing
    ),
    Row(
      name: "IPv4 over an IPv6 gateway",
      setup: "route add 0.0.0.0/0 via inet6 fe80::1 dev left",
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
    Row(
      name: "IPv6 switched off",
      setup: "route add default via 192.0.2.1",
      switches: ["ipv6/conf/all/disable_ipv6": "1"],
      kind: .ethernet,
      via: ["left"],
      reason: cable("left")
    ),
  ]
}

import CTestKernel
import FeedimgModel
import FeedimgSystem
import Glibc
import TestSystem
import Testing

@testable import FeedimgReachability

/// Real interfaces and routes of this kernel, in namespaces that exist for one test.
@Suite(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
struct LivePathTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    /// The `ip` commands, one per line.
    ///
    /// They start with two cables `left` and `right` with an address each.
    var setup: String
    /// The kernel parameters to set before.
    var switches: [String: String] = [:]
    var kind = NetworkKind.offline
    var via: [String] = []
    /// The expected reason in the state, or the reason for the expected result.
    var reason: String
    var testDescription: String { name }
  }

  @Test(arguments: rows + ipv6Rows)
  func `the path is the one of the packets`(_ row: Row) throws {
    let namespace = try Namespace()
    namespace.ip(Self.cables)
    for (name, value) in row.switches { namespace.set("net/\(name)", value) }
    namespace.ip(row.setup)
    let state = namespace.run { NetlinkReader().currentState() }
    #expect(state.kind == row.kind)
    #expect(state.via == row.via)
    #expect(state.reason == row.reason)
    #expect(state.isReachable == (row.kind != .offline))
  }

  static let cables = """
    link set lo up
    link add left type veth peer name left1
    link add right type veth peer name right1
    link set left1 up
    link set right1 up
    link set left up
    link set right up
    addr add 192.0.2.2/24 dev left
    addr add 198.51.100.2/24 dev right
    """

  @Test func `a tunnel of a program has the class of the link below`() throws {
    let namespace = try Namespace()
    namespace.ip("\(Self.cables)\nroute add default via 192.0.2.1 metric 600")
    let tunnel = namespace.run { test_open_tunnel("tun0") }
    try #require(tunnel >= 0)
    defer { close(tunnel) }
    // The two halves, as OpenVPN sets them.
    namespace.ip("link set tun0 up\nroute add 0.0.0.0/1 dev tun0\nroute add 128.0.0.0/1 dev tun0")
    let reader = NetlinkReader()
    var state = namespace.run { reader.currentState() }
    #expect(state.via == ["tun0", "left"])
    #expect(state.isTunnelled)
    #expect(state.route == "128.0.0.0/1 dev tun0")
    // A better default route, as NetworkManager adds it.
    namespace.ip("route del 0.0.0.0/1\nroute del 128.0.0.0/1\nroute add default dev tun0 metric 50")
    #expect(namespace.run { reader.currentState() }.via == ["tun0", "left"])
    // A separate table for all packets except the tunnel's own, as wg-quick adds it.
    namespace.ip(
      """
      route del default dev tun0
      route add default dev tun0 table 51820
      rule add not fwmark 51820 table 51820
      rule add table main suppress_prefixlength 0
      """
    )
    state = namespace.run { reader.currentState() }
    #expect(state.via == ["tun0", "left"])
    // Its packets are lost when the cable is unplugged.
    namespace.ip("link set left down\nlink set right down")
    #expect(namespace.run { reader.currentState() }.kind == .offline)
  }

  @Test func `a tunnel whose gateway has a route of its own is carried by that link`() throws {
    let namespace = try Namespace()
    namespace.ip("\(Self.cables)\nroute add default via 192.0.2.1 metric 600")
    let tunnel = namespace.run { test_open_tunnel("tun0") }
    try #require(tunnel >= 0)
    defer { close(tunnel) }
    namespace.ip(
      """
      link set tun0 up
      route add default dev tun0 metric 50
      route add 9.9.9.9/32 via 198.51.100.1
      """
    )
    #expect(namespace.run { NetlinkReader().currentState() }.via == ["tun0", "right"])
  }

  @Test func `a tunnel alone in its network is connected over an unknown link`() throws {
    let namespace = try Namespace()
    let tunnel = namespace.run { test_open_tunnel("tun0") }
    try #require(tunnel >= 0)
    defer { close(tunnel) }
    namespace.ip("link set tun0 up\nroute add default dev tun0")
    let state = namespace.run { NetlinkReader().currentState() }
    #expect(state.kind == .other)
    #expect(state.metered == .unknown)
    #expect(state.isReachable)
  }

  @Test func `a link whose peer has the same index in another network is not a loop`() throws {
    let inner = try Namespace()
    let outer = try Namespace()
    // The first two interfaces of each network, so that both ends of the cable have the index 2.
    outer.ip("link add left type veth peer name left1 netns \(inner.threadIdentifier)\nlink set left up")
    inner.ip("link set left1 up\naddr add 192.0.2.2/24 dev left1\nroute add default via 192.0.2.1")
    let link = inner.run { () -> Link? in
      guard let kernel = try? LiveKernel() else { return nil }
      return try? kernel.links(.all).first { $0.name == "left1" }
    }
    #expect(link?.lower == link?.index)
    #expect(link?.isLowerElsewhere == true)
    let state = inner.run { NetlinkReader().currentState() }
    #expect(state.via == ["left1"])
    #expect(state.isVirtual)
  }

  @Test func `sysfs of another network is ignored`() throws {
    // The mounted folder shows the network in which this process started.
    let names = SystemFiles().names(in: "/sys/class/net")
    let host = try #require(names.first { $0 != "lo" && SystemFiles().exists("/sys/class/net/\($0)/uevent") })
    let namespace = try Namespace()
    namespace.ip("link add \(host) type veth peer name other")
    namespace.run {
      #expect(SysfsInterface(Link(index: 999, name: host)) == nil)
      #expect(SysfsInterface(Link(index: 1, name: "../../etc")) == nil)
    }
  }
}

import FeedimgModel
import FeedimgReachability
import Testing

/// Real interfaces and routes of this kernel, in networks that live as long as a test.
@Suite(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
struct LivePathTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var setup: String
    var kind: NetworkKind
    var via: [String] = []
    var reason: String
    var testDescription: String { name }
  }

  @Test(arguments: rows)
  func `the path is the one that packets take`(_ row: Row) throws {
    let namespace = try Namespace()
    namespace.ip(row.setup)
    let state = namespace.run { NetlinkReader().currentState() }
    #expect(state.kind == row.kind)
    #expect(state.via == row.via)
    #expect(state.reason == row.reason)
    #expect(state.isReachable == (row.kind != .offline))
  }

  private static let cable = """
    link add v0 type veth peer name p0
    link set p0 up
    link set v0 up
    addr add 192.0.2.2/24 dev v0
    """
  private static let veth = "`v0` is a virtual Ethernet cable, as containers have it"

  static let rows: [Row] = [
    Row(name: "a new network", setup: "", kind: .offline, reason: "there is no route to the internet"),
    Row(
      name: "an address without a route",
      setup: cable,
      kind: .offline,
      reason: "there is no route to the internet"
    ),
    Row(
      name: "a default route",
      setup: "\(cable)\nroute add default via 192.0.2.1",
      kind: .ethernet,
      via: ["v0"],
      reason: veth
    ),
  ]
}

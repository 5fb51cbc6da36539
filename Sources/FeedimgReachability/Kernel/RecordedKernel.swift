package import FeedimgModel
import FeedimgSystem

/// A kernel that replies with recorded messages, for the tests of programs.
///
/// The first route or error is the reply to requests without a mark. Each later one is the reply for the next
/// mark that the rules name, because a tunnel sends its own packets with a mark. IPv6 has no route.
package struct RecordedKernel {
  private let links: [Link]
  private let routes: [RouteReply]
  private let marks: [UInt32]
  private let modes: [Hardware.WirelessMode]
  private let networks: [WirelessNetwork]
  private let drivers: [String: String]

  /// - Parameters:
  ///   - routing: Messages of rtnetlink: links, rules, routes and errors, in this order. Others are ignored.
  ///   - wireless: Messages of nl80211: the mode of a Wi-Fi interface, and its scan results.
  ///   - drivers: The driver of each interface by its name, which ethtool reports.
  package init(routing: [UInt8], wireless: [UInt8] = [], drivers: [String: String] = [:]) {
    func all<Value>(_ bytes: [UInt8], _ read: (NetlinkMessage) -> Value?) -> [Value] {
      bytes.withUnsafeBytes { NetlinkMessages($0).compactMap(read) }
    }
    links = all(routing) { Link($0) }
    routes = all(routing) { RouteReply($0) ?? $0.errorNumber.flatMap(RouteRequest.reply) }
    marks = RuleMark.inOrder(all(routing) { RuleMark($0) })
    modes = all(wireless, WirelessMessages.mode)
    networks = all(wireless, WirelessMessages.joinedNetwork)
    self.drivers = drivers
  }

  /// The state of the network, classified as that of a live kernel.
  package var state: NetworkState {
    do throws(NetlinkError) {
      return try NetworkSurvey(kernel: self).state()
    } catch {
      return .unknown("the recording cannot be read", isReachable: false)
    }
  }
}

extension RecordedKernel: KernelQuerying {
  func route(_ request: RouteRequest) throws(NetlinkError) -> RouteReply {
    guard request.destination.family == .v4, request.device == nil else { return .none(.missing) }
    let place = request.mark.map { mark in marks.firstIndex(of: mark).map { $0 + 1 } ?? routes.count } ?? 0
    return routes.indices.contains(place) ? routes[place] : .none(.missing)
  }

  func hostRoutes(_ family: AddressFamily) throws(NetlinkError) -> [Route] { [] }

  func links(_ request: LinkRequest) throws(NetlinkError) -> [Link] {
    links.filter { link in
      switch request {
      case .all: true
      case .link(let index): link.index == index
      case .ports(let master): link.master == master
      }
    }
  }

  func marks(_ family: AddressFamily) throws(NetlinkError) -> [UInt32] {
    family == .v4 ? marks : []
  }

  func hardware(of link: Link) -> Hardware {
    // A recording has one Wi-Fi interface at most: the one without a kind and a driver.
    let isWireless = link.kind == nil && drivers[link.name] == nil
    return Hardware(driver: drivers[link.name], wirelessMode: isWireless ? modes.first : nil)
  }

  func hasDevice(_ link: Link) -> Bool { link.parentDevice != nil }
  func wirelessNetwork(of link: Link) -> WirelessNetwork? { networks.first }
  func isLeasedByPhone(_ link: Link) -> Bool { false }
  func lowerLinks(of link: Link) throws(NetlinkError) -> [Link] { [] }
  func isPPPOverTunnel(_ link: Link) -> Bool { false }
  func carriersOfPPPoE() -> [String] { [] }
}

import FeedimgSystem

/// Reads links, routes and devices from the kernel (a port).
protocol KernelQuerying {
  /// The route to an address, or the reason why there is none.
  func route(_ request: RouteRequest) throws(NetlinkError) -> RouteReply
  /// The routes to single hosts, in the order of the routing tables.
  func hostRoutes(_ family: AddressFamily) throws(NetlinkError) -> [Route]
  /// The requested links in the order of their indices; empty if a link has disappeared.
  func links(_ request: LinkRequest) throws(NetlinkError) -> [Link]
  /// The marks that routing rules use, each once.
  func marks(_ family: AddressFamily) throws(NetlinkError) -> [UInt32]
  /// The properties of the device behind a link.
  func hardware(of link: Link) -> Hardware
  /// Whether a link belongs to a device.
  func hasDevice(_ link: Link) -> Bool
  /// The connected Wi-Fi network of a link; nil if unknown.
  func wirelessNetwork(of link: Link) -> WirelessNetwork?
  /// Whether a phone that shares mobile data assigned the address of a link, if a lease file says so.
  func isLeasedByPhone(_ link: Link) -> Bool
  /// The links that sysfs shows below a link, for links whose messages do not name them.
  func lowerLinks(of link: Link) throws(NetlinkError) -> [Link]
  /// Whether a PPP connection leads through a tunnel program instead of a modem, if that is known.
  func isPPPOverTunnel(_ link: Link) -> Bool
  /// The names of the interfaces that carry PPPoE sessions, one for each session.
  func carriersOfPPPoE() -> [String]
}

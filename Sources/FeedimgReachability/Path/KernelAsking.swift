/// What finding the path needs to ask (a port, so that the finding can be tested without a kernel).
protocol KernelAsking {
  /// The route to an address, or why there is none.
  func route(_ question: RouteQuestion) throws(NetlinkError) -> RouteAnswer
  /// The links that a question is about, in the order of their indices; none where it has gone.
  func links(_ question: LinkQuestion) throws(NetlinkError) -> [Link]
  /// The marks that rules distinguish, each once.
  func marks(_ family: AddressFamily) throws(NetlinkError) -> [UInt32]
  /// What is known of the device behind a link.
  func hardware(of link: Link) -> Hardware
  /// Whether a link belongs to a device at all.
  func hasDevice(_ link: Link) -> Bool
  /// The Wi-Fi network that a link is joined to; nil where that cannot be told.
  func wirelessNetwork(of link: Link) -> WirelessNetwork?
  /// Whether the address of a link was given by a phone that shares mobile data, as far as anybody kept that.
  func isLeasedByPhone(_ link: Link) -> Bool
  /// The links that sysfs shows below one, for those whose messages do not tell.
  func lowerLinks(of link: Link) throws(NetlinkError) -> [Link]
  /// What holds a dialled connection.
  func dialler(of link: Link) -> Dialler
  /// The names of the interfaces that carry PPPoE sessions, one for each session.
  func carriersOfPPPoE() -> [String]
}

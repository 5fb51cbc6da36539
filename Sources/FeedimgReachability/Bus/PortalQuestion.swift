/// What the desktop's portal says of the network (org.freedesktop.portal.NetworkMonitor).
enum PortalQuestion {
  static let interface = "org.freedesktop.portal.NetworkMonitor"

  struct Status: Hashable {
    /// Whether data costs.
    ///
    /// The portal does not tell a guess from a setting, nor that it is free from that nobody knows.
    var isMetered: Bool
    /// Whether a sign-in page stands before the internet.
    var isCaptive: Bool
  }

  /// How the network is.
  ///
  /// - Returns: Nil where there is no portal, or none that knows the network.
  static func status(_ bus: some BusAsking) -> Status? {
    let method = BusMethod(
      service: "org.freedesktop.portal.Desktop",
      object: "/org/freedesktop/portal/desktop",
      interface: interface,
      name: "GetStatus"
    )
    guard let answer = bus.call(method, []), case .pairs = answer else { return nil }
    return Status(
      isMetered: answer["metered"]?.bool ?? false,
      // GNetworkConnectivity: 1 local, 2 limited, 3 behind a page, 4 full.
      isCaptive: answer["connectivity"]?.number == 3
    )
  }
}

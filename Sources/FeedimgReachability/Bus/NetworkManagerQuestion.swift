import FeedimgModel

/// What NetworkManager says of a device.
///
/// It is asked for that device, not for the computer as a whole: what it says of the whole follows the
/// connection that it takes for the first, which may be a tunnel.
enum NetworkManagerQuestion {
  static let service = "org.freedesktop.NetworkManager"

  /// The properties whose change may change the answer; others of Wi-Fi change all the time.
  static let interface = "\(service).Device"

  /// The name on the bus of the device that has an interface.
  ///
  /// - Returns: Nil where NetworkManager does not run, or knows no such interface.
  static func device(_ interface: String, _ bus: some BusAsking) -> String? {
    let find = BusMethod(
      service: service,
      object: "/org/freedesktop/NetworkManager",
      interface: service,
      name: "GetDeviceByIpIface"
    )
    return bus.call(find, [interface])?.text
  }

  /// Whether data over a device costs.
  ///
  /// - Returns: Nil where NetworkManager does not manage it, or only guesses that data is free: then better evidence
  ///   may be at hand.
  static func metered(_ device: String, _ bus: some BusAsking) -> Metered? {
    // NMMetered of libnm: 1 yes, 2 no, 3 guessed yes, 4 guessed no, 0 unknown.
    switch property("Metered", of: device, bus)?.number {
    case 1, 3: .yes
    case 2: .no
    default: nil
    }
  }

  /// Whether NetworkManager found a sign-in page where it looked for the internet over a device.
  static func isCaptive(_ device: String, _ family: AddressFamily, _ bus: some BusAsking) -> Bool {
    // NMConnectivityState of libnm: 2 is a portal.
    property(family == .v4 ? "Ip4Connectivity" : "Ip6Connectivity", of: device, bus)?.number == 2
  }

  private static func property(_ name: String, of device: String, _ bus: some BusAsking) -> BusValue? {
    bus.property(BusMethod(service: service, object: device, interface: interface, name: name))
  }
}

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

/// What ModemManager says of a modem.
enum ModemManagerQuestion {
  static let service = "org.freedesktop.ModemManager1"

  /// The properties whose change may change the answer.
  static let interfaces = [registration, bearer]
  private static let registration = "\(service).Modem.Modem3gpp"
  private static let bearer = "\(service).Bearer"

  struct Answer: Hashable {
    var isRoaming: Bool
    var isSuspended: Bool
  }

  /// How the modem behind an interface is doing.
  ///
  /// - Returns: Nil where ModemManager does not run, or knows no modem with such an interface.
  static func state(device: String, _ bus: some BusAsking) -> Answer? {
    let list = BusMethod(
      service: service,
      object: "/org/freedesktop/ModemManager1",
      interface: "org.freedesktop.DBus.ObjectManager",
      name: "GetManagedObjects"
    )
    guard case .pairs(let objects)? = bus.call(list, []) else { return nil }
    for interfaces in objects.values {
      let bearers = interfaces["\(service).Modem"]?["Bearers"]?.list.compactMap(\.text) ?? []
      for bearer in bearers where property("Interface", of: bearer, bus)?.text == device {
        let network = interfaces[registration]?["RegistrationState"]?.number
        return Answer(
          isRoaming: network.map(roamingStates.contains) ?? false,
          isSuspended: property("Suspended", of: bearer, bus)?.bool ?? false
        )
      }
    }
    return nil
  }

  private static func property(_ name: String, of object: String, _ bus: some BusAsking) -> BusValue? {
    bus.property(BusMethod(service: service, object: object, interface: bearer, name: name))
  }

  /// MMModem3gppRegistrationState: roaming, roaming with messages only, roaming without fallback.
  private static let roamingStates: Set<Int64> = [5, 7, 10]
}

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

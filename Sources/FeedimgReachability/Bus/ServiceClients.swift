import FeedimgModel
import FeedimgSystem

/// Reads the state of a device from NetworkManager.
///
/// Asks about the device, because the global state describes NetworkManager's primary connection, which may
/// be a tunnel.
enum NetworkManagerClient {
  static let service = "org.freedesktop.NetworkManager"

  /// The interface whose property changes may change the state.
  ///
  /// Other interfaces of Wi-Fi devices change constantly.
  static let interface = "\(service).Device"

  /// The object path of the device with an interface.
  ///
  /// - Returns: Nil if NetworkManager does not run or does not know the interface.
  static func device(_ interface: String, _ bus: some BusCalling) -> String? {
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
  /// - Returns: Nil if NetworkManager does not manage the device, or only guesses that data is free. Other evidence
  ///   may then be better.
  static func metered(_ device: String, _ bus: some BusCalling) -> Metered? {
    // NMMetered of libnm: 1 yes, 2 no, 3 guessed yes, 4 guessed no, 0 unknown.
    switch property("Metered", of: device, bus)?.number {
    case 1, 3: .yes
    case 2: .no
    default: nil
    }
  }

  /// Whether NetworkManager found a captive portal on a device.
  static func isCaptive(_ device: String, _ family: AddressFamily, _ bus: some BusCalling) -> Bool {
    // NMConnectivityState of libnm: 2 is a captive portal.
    property(family == .v4 ? "Ip4Connectivity" : "Ip6Connectivity", of: device, bus)?.number == 2
  }

  private static func property(_ name: String, of device: String, _ bus: some BusCalling) -> BusValue? {
    bus.property(BusMethod(service: service, object: device, interface: interface, name: name))
  }
}

/// Reads the state of a modem from ModemManager.
enum ModemManagerClient {
  static let service = "org.freedesktop.ModemManager1"

  /// The interfaces whose property changes may change the state.
  static let interfaces = [registration, bearer]
  private static let registration = "\(service).Modem.Modem3gpp"
  private static let bearer = "\(service).Bearer"

  /// The advice on the modem with an interface.
  ///
  /// - Returns: Nil if ModemManager does not run or has no modem with the interface.
  static func advice(device: String, _ bus: some BusCalling) -> NetworkAdvice? {
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
        return NetworkAdvice(
          isRoaming: network.map(roamingStates.contains) ?? false,
          isSuspended: property("Suspended", of: bearer, bus)?.bool ?? false
        )
      }
    }
    return nil
  }

  private static func property(_ name: String, of object: String, _ bus: some BusCalling) -> BusValue? {
    bus.property(BusMethod(service: service, object: object, interface: bearer, name: name))
  }

  /// MMModem3gppRegistrationState: roaming, roaming with messages only, roaming without fallback.
  private static let roamingStates: Set<UInt32> = [5, 7, 10]
}

/// Reads the state of the network from the desktop portal (org.freedesktop.portal.NetworkMonitor).
enum PortalClient {
  static let interface = "org.freedesktop.portal.NetworkMonitor"

  /// The advice on the network as a whole; nil if there is no portal, or if it does not know the network.
  ///
  /// The portal does not distinguish a guess from a setting, or "free" from "unknown".
  static func advice(_ bus: some BusCalling) -> NetworkAdvice? {
    let method = BusMethod(
      service: "org.freedesktop.portal.Desktop",
      object: "/org/freedesktop/portal/desktop",
      interface: interface,
      name: "GetStatus"
    )
    guard let reply = bus.call(method, []), case .pairs = reply else { return nil }
    return NetworkAdvice(
      statement: reply["metered"]?.bool == true ? .portal : nil,
      // GNetworkConnectivity: 1 local, 2 limited, 3 captive portal, 4 full.
      isCaptive: reply["connectivity"]?.number == 3
    )
  }
}

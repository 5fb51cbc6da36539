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

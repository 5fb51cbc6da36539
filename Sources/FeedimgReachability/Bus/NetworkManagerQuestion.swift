import FeedimgModel

/// What NetworkManager says of a device.
///
/// It is asked for that device, not for the computer as a whole: what it says of the whole follows the
/// connection that it takes for the first, which may be a tunnel.
enum NetworkManagerQuestion {
  static let service = "org.freedesktop.NetworkManager"

  /// The properties whose change may change the answer; others of Wi-Fi change all the time.
  static let interface = "\(service).Device"

  /// Whether data over an interface costs.
  ///
  /// - Returns: Nil where NetworkManager does not run, does not manage the interface, or only guesses that
  ///   data is free: then better evidence may be at hand.
  static func metered(device: String, _ bus: some BusAsking) -> Metered? {
    let find = BusMethod(
      service: service,
      object: "/org/freedesktop/NetworkManager",
      interface: service,
      name: "GetDeviceByIpIface"
    )
    guard let object = bus.call(find, [device])?.text else { return nil }
    let property = BusMethod(
      service: service,
      object: object,
      interface: interface,
      name: "Metered"
    )
    // NMMetered of libnm: 1 yes, 2 no, 3 guessed yes, 4 guessed no, 0 unknown.
    switch bus.property(property)?.number {
    case 1, 3: return .yes
    case 2: return .no
    default: return nil
    }
  }
}

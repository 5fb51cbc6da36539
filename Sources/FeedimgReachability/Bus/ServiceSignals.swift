/// The D-Bus signals that may change the advice of services.
final class ServiceSignals {
  private let bus: SystemBus

  /// Readable when a signal has arrived.
  var descriptor: Int32 { bus.descriptor }

  /// Subscribes to NetworkManager and ModemManager.
  ///
  /// - Returns: Nil if there is no bus.
  convenience init?(ofSystem choice: BusChoice) {
    let interfaces = [NetworkManagerClient.interface] + ModemManagerClient.interfaces
    let services = [NetworkManagerClient.service, ModemManagerClient.service]
    self.init(
      choice,
      rules: interfaces.map { Self.rule("org.freedesktop.DBus.Properties", "PropertiesChanged", about: $0) }
        + services.map { Self.rule("org.freedesktop.DBus", "NameOwnerChanged", about: $0) }
    )
  }

  /// Subscribes to the desktop portal.
  ///
  /// - Returns: Nil if there is no bus.
  convenience init?(ofPortal choice: BusChoice) {
    self.init(choice, rules: [Self.rule(PortalClient.interface, "changed")])
  }

  private init?(_ choice: BusChoice, rules: [String]) {
    guard let bus = choice.open() else { return nil }
    self.bus = bus
    for rule in rules { bus.listen(to: rule) }
  }

  /// Discards the signals that have arrived.
  ///
  /// - Returns: The number of messages; nil if the connection to the bus was lost.
  func drain() -> Int? {
    bus.drain()
  }

  private static func rule(_ interface: String, _ signal: String, about argument: String? = nil) -> String {
    "type='signal',interface='\(interface)',member='\(signal)'" + (argument.map { ",arg0='\($0)'" } ?? "")
  }
}

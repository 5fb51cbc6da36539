/// The signals of services after which their advice may be different.
final class ServiceSignals {
  private let bus: SystemBus

  /// Readable when a signal has come.
  var descriptor: Int32 { bus.descriptor }

  /// Subscribes to NetworkManager and ModemManager.
  ///
  /// - Returns: Nil where there is no bus.
  convenience init?(ofSystem choice: BusChoice) {
    let interfaces = [NetworkManagerQuestion.interface] + ModemManagerQuestion.interfaces
    let services = [NetworkManagerQuestion.service, ModemManagerQuestion.service]
    self.init(
      choice,
      rules: interfaces.map { Self.rule("org.freedesktop.DBus.Properties", "PropertiesChanged", about: $0) }
        + services.map { Self.rule("org.freedesktop.DBus", "NameOwnerChanged", about: $0) }
    )
  }

  /// Subscribes to the desktop's portal.
  ///
  /// - Returns: Nil where there is no bus.
  convenience init?(ofPortal choice: BusChoice) {
    self.init(choice, rules: [Self.rule(PortalQuestion.interface, "changed")])
  }

  private init?(_ choice: BusChoice, rules: [String]) {
    guard let bus = choice.open() else { return nil }
    self.bus = bus
    for rule in rules { bus.listen(to: rule) }
  }

  /// Discards the signals that have come.
  ///
  /// - Returns: The number of messages; nil after the bus was lost.
  func drain() -> Int? {
    bus.drain()
  }

  private static func rule(_ interface: String, _ signal: String, about argument: String? = nil) -> String {
    "type='signal',interface='\(interface)',member='\(signal)'" + (argument.map { ",arg0='\($0)'" } ?? "")
  }
}

/// Hears when a service that manages the network may have changed its mind.
final class ServiceSignals {
  private let bus: SystemBus

  /// Becomes readable when there is something to hear.
  var descriptor: Int32 { bus.descriptor }

  /// - Returns: Nil where there is no bus.
  init?(_ choice: BusChoice) {
    guard let bus = choice.open() else { return nil }
    self.bus = bus
    for interface in [NetworkManagerQuestion.interface] + ModemManagerQuestion.interfaces {
      bus.listen(to: Self.rule("org.freedesktop.DBus.Properties", "PropertiesChanged", about: interface))
    }
    for service in [NetworkManagerQuestion.service, ModemManagerQuestion.service] {
      bus.listen(to: Self.rule("org.freedesktop.DBus", "NameOwnerChanged", about: service))
    }
  }

  /// Throws away what has come.
  ///
  /// - Returns: The number of messages; nil where there is no bus any more.
  func drain() -> Int? {
    bus.drain()
  }

  private static func rule(_ interface: String, _ signal: String, about argument: String) -> String {
    "type='signal',interface='\(interface)',member='\(signal)',arg0='\(argument)'"
  }
}

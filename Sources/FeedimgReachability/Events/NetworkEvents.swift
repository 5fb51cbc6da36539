/// The events that may change the network or its metering.
///
/// Use it from one thread at a time.
final class NetworkEvents {
  /// Nil if the kernel sends no events.
  let netlink: NetlinkEvents?
  /// Connections that receive signals which may change the advice of services.
  private(set) var system: SystemBus?
  private(set) var portal: SystemBus?

  init(_ netlink: NetlinkEvents?) { self.netlink = netlink }

  /// Subscribes to services, unless it already has.
  ///
  /// The bus's confirmation is the first event.
  func listen(to services: NetworkServices) {
    if system == nil {
      let interfaces = [NetworkManagerClient.interface] + ModemManagerClient.interfaces
      let names = [NetworkManagerClient.service, ModemManagerClient.service]
      system = services.system.open()
      for interface in interfaces {
        system?.listen(to: "org.freedesktop.DBus.Properties", "PropertiesChanged", about: interface)
      }
      for name in names { system?.listen(to: "org.freedesktop.DBus", "NameOwnerChanged", about: name) }
    }
    if portal == nil {
      portal = services.portal.open()
      portal?.listen(to: PortalClient.interface, "changed")
    }
  }

  /// Discards the events that have arrived.
  func drain() -> ArrivedEvents {
    let events = netlink?.drain() ?? .none
    let signals = Self.drain(&system) + Self.drain(&portal)
    return events == .none && signals > 0 ? .some : events
  }

  /// - Returns: The number of messages. A lost connection is closed and counts as one.
  private static func drain(_ signals: inout SystemBus?) -> Int {
    guard let bus = signals else { return 0 }
    if let count = bus.drain() { return count }
    signals = nil
    return 1
  }
}

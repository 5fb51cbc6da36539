/// The events that may change the network or its metering. Use it from one thread at a time.
final class NetworkEvents {
  /// Nil if the kernel sends no events.
  let netlink: NetlinkEvents?
  private(set) var system: ServiceSignals?
  private(set) var portal: ServiceSignals?

  init(_ netlink: NetlinkEvents?) { self.netlink = netlink }

  /// Subscribes to services, unless it already has. The bus's confirmation is the first event.
  func listen(to services: NetworkServices) {
    if system == nil { system = ServiceSignals(ofSystem: services.system) }
    if portal == nil { portal = ServiceSignals(ofPortal: services.portal) }
  }

  /// Discards the events that have arrived.
  func drain() -> NetworkWatch.Events {
    let events = netlink?.drain() ?? .none
    let signals = Self.drain(&system) + Self.drain(&portal)
    return events == .none && signals > 0 ? .some : events
  }

  /// - Returns: The number of messages. A lost connection is closed and counts as one.
  private static func drain(_ signals: inout ServiceSignals?) -> Int {
    guard let bus = signals else { return 0 }
    if let count = bus.drain() { return count }
    signals = nil
    return 1
  }
}

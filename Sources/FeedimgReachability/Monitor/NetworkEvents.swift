/// The events after which the network, or the price of its data, may be different; for one thread at a time.
final class NetworkEvents {
  /// Nil where the kernel sends none.
  let netlink: NetlinkEvents?
  private(set) var system: ServiceSignals?
  private(set) var portal: ServiceSignals?

  init(_ netlink: NetlinkEvents?) { self.netlink = netlink }

  /// Subscribes to services, unless it already has; their agreement is the first event.
  func listen(to services: NetworkServices) {
    if system == nil { system = ServiceSignals(ofSystem: services.system) }
    if portal == nil { portal = ServiceSignals(ofPortal: services.portal) }
  }

  /// Discards the events that have come.
  func drain() -> NetworkWatch.Events {
    let events = netlink?.drain() ?? .none
    let signals = Self.drain(&system) + Self.drain(&portal)
    return events == .none && signals > 0 ? .some : events
  }

  /// - Returns: The number of messages; a lost bus is released and counts as one.
  private static func drain(_ signals: inout ServiceSignals?) -> Int {
    guard let bus = signals else { return 0 }
    if let count = bus.drain() { return count }
    signals = nil
    return 1
  }
}

/// What tells that the network, or what is known of its cost, may have changed; for one thread at a time.
final class Ears {
  /// Nil where the system tells of no changes.
  let events: EventSocket?
  private(set) var system: ServiceSignals?
  private(set) var portal: ServiceSignals?

  init(_ events: EventSocket?) { self.events = events }

  /// Hears services from now on, if it does not yet; that they agreed to tell is the first event.
  func listen(to services: NetworkServices) {
    if system == nil { system = ServiceSignals(ofSystem: services.system) }
    if portal == nil { portal = ServiceSignals(ofPortal: services.portal) }
  }

  /// Throws away the events that have come.
  func drain() -> NetworkWatch.Events {
    let heard = events?.drain() ?? .none
    let signals = Self.drain(&system) + Self.drain(&portal)
    return heard == .none && signals > 0 ? .some : heard
  }

  /// - Returns: The number of messages; who is lost is let go, and that counts as one.
  private static func drain(_ signals: inout ServiceSignals?) -> Int {
    guard let heard = signals else { return 0 }
    if let count = heard.drain() { return count }
    signals = nil
    return 1
  }
}

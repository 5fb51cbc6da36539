/// Asks the services that manage the network what they know of a path, if there are any.
///
/// Not for several threads at once. It connects with the first question, and again where it lost a bus.
final class NetworkAdviser {
  private var system = BusLine()
  private var portal = BusLine()

  /// What is known of a path; nothing where nobody knows.
  func advice(on path: NetworkPath, from services: NetworkServices) -> NetworkAdvice {
    var advice = NetworkAdvice()
    if let bus = system.bus(services.system) { advice = NetworkAdvice(on: path, bus) }
    if let bus = portal.bus(services.portal), let status = PortalQuestion.status(bus) { advice.join(status) }
    return advice
  }
}

/// A connection to a bus that is made when it is needed, and kept.
private struct BusLine {
  private var choice = BusChoice.none
  private var kept: SystemBus?

  mutating func bus(_ choice: BusChoice) -> SystemBus? {
    // Who asks nobody for a while keeps the line.
    guard choice != .none else { return nil }
    if choice != self.choice || kept?.isOpen != true { (self.choice, kept) = (choice, choice.open()) }
    return kept
  }
}

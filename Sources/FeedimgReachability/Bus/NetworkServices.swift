/// Whom to ask about the network besides the kernel.
package struct NetworkServices: Hashable, Sendable {
  /// Where NetworkManager and ModemManager are.
  package var system: BusChoice
  /// Where the desktop's portal is, which tells programs in a sandbox what they cannot see for themselves.
  package var portal: BusChoice

  /// Nobody.
  package static let none = NetworkServices()

  package init(system: BusChoice = .none, portal: BusChoice = .none) {
    (self.system, self.portal) = (system, portal)
  }
}

/// A message bus.
package enum BusChoice: Hashable, Sendable {
  case none
  /// The system's own, where it usually is.
  case system
  /// One at an address as D-Bus writes it, which may take so long for an answer.
  case at(String, patience: Duration = .milliseconds(200))

  func open() -> SystemBus? {
    switch self {
    case .none: nil
    case .system: SystemBus()
    case .at(let address, let patience): SystemBus(address: address, patience: patience)
    }
  }
}

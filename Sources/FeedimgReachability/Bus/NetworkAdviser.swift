/// Asks the services that manage the network what they know of a path, if there are any.
///
/// Not for several threads at once. It connects with the first question, and again where it lost the bus.
final class NetworkAdviser {
  private let choice: BusChoice
  private var bus: SystemBus?

  init(_ choice: BusChoice) {
    self.choice = choice
  }

  /// What is known of a path; nothing where nobody knows.
  func advice(on path: NetworkPath) -> NetworkAdvice {
    if bus?.isOpen != true { bus = choice.open() }
    guard let bus else { return NetworkAdvice() }
    return NetworkAdvice(on: path, bus)
  }
}

/// Which message bus to ask for the services that manage the network.
package enum BusChoice: Hashable, Sendable {
  case none
  /// The system's own.
  case system
  /// Another one, at an address as D-Bus writes it.
  case at(String)

  func open() -> SystemBus? {
    switch self {
    case .none: nil
    case .system: SystemBus()
    case .at(let address): SystemBus(address: address)
    }
  }
}

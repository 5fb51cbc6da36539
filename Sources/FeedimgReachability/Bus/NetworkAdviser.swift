import FeedimgModel

extension NetworkAdvice {
  /// Asks on the system bus.
  ///
  /// Starts with the link that carries the data and continues with the links above it, because a bridge or a
  /// PPP connection has the setting, not its port. Skips tunnels, because the user pays for the links below
  /// them.
  init(on path: NetworkPath, _ bus: some BusCalling) {
    self.init()
    let devices = path.links.reversed().filter { !$0.isTunnel }.map(\.name)
    for device in devices.lazy.compactMap({ NetworkManagerClient.device($0, bus) }) {
      isCaptive = isCaptive || NetworkManagerClient.isCaptive(device, path.route.family, bus)
      statement = NetworkManagerClient.metered(device, bus).map(Metering.Statement.networkManager)
      if statement != nil { break }
    }
    guard path.end.medium == .cellular, !path.end.isTether else { return }
    let modem = devices.lazy.compactMap { ModemManagerClient.advice(device: $0, bus) }.first
    isRoaming = modem?.isRoaming ?? false
    isSuspended = modem?.isSuspended ?? false
  }
}

/// Asks the network services about paths, and keeps their replies for a while; for one thread at a time.
///
/// Connects at the first call, and again after the connection was lost. If a service does not reply in time, the
/// earlier reply stays, and the next question waits for a pause or an event.
final class NetworkAdviser {
  private let lifetime: Duration
  private let pause: Duration
  private var system = BusConnection()
  private var portal = BusConnection()
  private var replies: [NetworkPath: (advice: NetworkAdvice, end: ContinuousClock.Instant)] = [:]
  /// The services that gave the replies.
  private var services = NetworkServices.none

  /// - Parameters:
  ///   - lifetime: The lifetime of replies.
  ///   - pause: The time before the next question to a service that did not reply in time.
  init(lifetime: Duration, pause: Duration = .seconds(10)) { (self.lifetime, self.pause) = (lifetime, pause) }

  /// The advice on a path; empty if no service knows it.
  func advice(on path: NetworkPath, from services: NetworkServices) -> NetworkAdvice {
    guard services != .none else { return NetworkAdvice() }
    if services != self.services { (replies, self.services) = ([:], services) }
    let earlier = replies[path]
    if let earlier, ContinuousClock.now < earlier.end { return earlier.advice }
    var advice = NetworkAdvice()
    if let bus = system.bus(services.system) { advice = NetworkAdvice(on: path, bus) }
    if let bus = portal.bus(services.portal), let reply = PortalClient.advice(bus) { advice.join(reply) }
    let isLate = system.isLate || portal.isLate
    if isLate, let earlier { advice = earlier.advice }
    // The lifetime starts after the calls, which may take longer than it.
    replies[path] = (advice, ContinuousClock.now + (isLate ? pause : lifetime))
    return advice
  }

  /// Asks again at the next call, because an event may have made the replies outdated.
  func forget() { replies = replies.mapValues { ($0.advice, end: .now) } }
}

/// A connection to a bus, opened at the first call and kept.
private struct BusConnection {
  private var choice = BusChoice.none
  private var kept: SystemBus?

  /// Whether a reply did not arrive in time since the last ``bus(_:)``.
  var isLate: Bool { kept?.hasTimedOut ?? false }

  mutating func bus(_ choice: BusChoice) -> SystemBus? {
    kept?.hasTimedOut = false
    // The connection stays open while no service is chosen.
    guard choice != .none else { return nil }
    if choice != self.choice || kept?.isOpen != true { (self.choice, kept) = (choice, choice.open()) }
    return kept
  }
}

/// The services to ask in addition to the kernel.
package struct NetworkServices: Hashable, Sendable {
  /// The bus of NetworkManager and ModemManager.
  package var system: BusChoice
  /// The bus of the desktop portal, which serves sandboxed programs.
  package var portal: BusChoice

  /// No services.
  package static let none = NetworkServices()

  package init(system: BusChoice = .none, portal: BusChoice = .none) {
    (self.system, self.portal) = (system, portal)
  }
}

/// A message bus.
package enum BusChoice: Hashable, Sendable {
  case none
  /// A bus at a D-Bus address, with the longest wait for a reply.
  case at(String, timeout: Duration = .milliseconds(200))

  /// The system bus at its usual address.
  package static let system = BusChoice.at(SystemBus.usualAddress)

  func open() -> SystemBus? {
    guard case .at(let address, let timeout) = self else { return nil }
    return SystemBus(address: address, timeout: timeout)
  }
}

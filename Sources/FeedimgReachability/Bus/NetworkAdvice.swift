import FeedimgModel

/// The reply of the network services about a path.
struct NetworkAdvice: Hashable, Sendable {
  /// Whether data costs, and the service that reports it; nil if unknown, or if the service only guesses
  /// "no".
  var statement: Metering.Statement?
  /// Whether the modem is roaming.
  var isRoaming = false
  /// Whether the modem carries no data at present, for example during a call.
  var isSuspended = false
  /// Whether a captive portal blocks the internet, as in hotels.
  var isCaptive = false
}

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
    guard let modem = devices.lazy.compactMap({ ModemManagerClient.state(device: $0, bus) }).first else {
      return
    }
    isRoaming = modem.isRoaming
    isSuspended = modem.isSuspended
  }

  /// Adds the reply of the portal, which knows only the network as a whole.
  ///
  /// A reply about the device takes precedence.
  mutating func join(_ portal: PortalClient.Status) {
    if statement == nil, portal.isMetered { statement = .portal }
    isCaptive = isCaptive || portal.isCaptive
  }
}

/// Asks the network services about a path.
///
/// Use it from one thread at a time.
///
/// Connects at the first call, and again after the connection was lost.
final class NetworkAdviser {
  private var system = BusConnection()
  private var portal = BusConnection()

  /// The advice on a path; empty if no service knows it.
  func advice(on path: NetworkPath, from services: NetworkServices) -> NetworkAdvice {
    var advice = NetworkAdvice()
    if let bus = system.bus(services.system) { advice = NetworkAdvice(on: path, bus) }
    if let bus = portal.bus(services.portal), let status = PortalClient.status(bus) { advice.join(status) }
    return advice
  }
}

/// A connection to a bus, opened at the first call and kept.
private struct BusConnection {
  private var choice = BusChoice.none
  private var kept: SystemBus?

  mutating func bus(_ choice: BusChoice) -> SystemBus? {
    // The connection stays open while no service is chosen.
    guard choice != .none else { return nil }
    if choice != self.choice || kept?.isOpen != true { (self.choice, kept) = (choice, choice.open()) }
    return kept
  }
}

/// Caches the replies of services about paths, so that not every reading asks again.
struct AdviceCache: Sendable {
  private struct Key: Hashable {
    let path: NetworkPath
    let services: NetworkServices
  }

  /// The lifetime of a reply.
  let lifetime: Duration
  private var entries: [Key: (advice: NetworkAdvice, askedAt: ContinuousClock.Instant)] = [:]

  init(lifetime: Duration) { self.lifetime = lifetime }

  /// The valid reply; nil if there is none.
  func advice(
    on path: NetworkPath,
    from services: NetworkServices,
    at now: ContinuousClock.Instant
  ) -> NetworkAdvice? {
    entries[Key(path: path, services: services)].flatMap { now - $0.askedAt < lifetime ? $0.advice : nil }
  }

  /// Keeps a reply, unless a later reading already stored one.
  mutating func note(
    _ advice: NetworkAdvice,
    on path: NetworkPath,
    from services: NetworkServices,
    askedAt: ContinuousClock.Instant
  ) {
    let key = Key(path: path, services: services)
    if let known = entries[key], known.askedAt > askedAt { return }
    entries = entries.filter { askedAt - $0.value.askedAt < lifetime }
    entries[key] = (advice, askedAt)
  }

  /// Discards all replies, because an event made them outdated.
  mutating func forget() { entries = [:] }
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
  /// The system bus at its usual address.
  case system
  /// A bus at a D-Bus address, with the longest wait for a reply.
  case at(String, timeout: Duration = .milliseconds(200))

  func open() -> SystemBus? {
    switch self {
    case .none: nil
    case .system: SystemBus()
    case .at(let address, let timeout): SystemBus(address: address, timeout: timeout)
    }
  }
}

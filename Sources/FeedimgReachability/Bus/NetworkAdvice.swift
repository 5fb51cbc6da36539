import FeedimgModel

/// The reply of the services that manage the network about a path.
struct NetworkAdvice: Hashable, Sendable {
  /// Whether data costs, and the service that says so; nil where no service knows, or one only guesses that it is free.
  var word: Metering.Word?
  /// Whether the modem is in a foreign network.
  var isRoaming = false
  /// Whether the modem carries no data at present, as during a call.
  var isSuspended = false
  /// Whether a sign-in page stands before the internet, as in hotels.
  var isCaptive = false
}

extension NetworkAdvice {
  /// Asks on the system bus.
  ///
  /// The link that carries the data is asked for first, and then those above it: a bridge or a PPP connection
  /// has the setting, not its port. Tunnels are passed over, since what is below them is paid for.
  init(on path: NetworkPath, _ bus: some BusAsking) {
    self.init()
    let devices = path.links.reversed().filter { !$0.isTunnel }.map(\.name)
    for device in devices.lazy.compactMap({ NetworkManagerQuestion.device($0, bus) }) {
      isCaptive = isCaptive || NetworkManagerQuestion.isCaptive(device, path.route.family, bus)
      word = NetworkManagerQuestion.metered(device, bus).map(Metering.Word.networkManager)
      if word != nil { break }
    }
    guard path.end.medium == .cellular, !path.end.isTether else { return }
    guard let modem = devices.lazy.compactMap({ ModemManagerQuestion.state(device: $0, bus) }).first else {
      return
    }
    isRoaming = modem.isRoaming
    isSuspended = modem.isSuspended
  }

  /// Adds the reply of the portal, which knows the network as a whole; a service that knows the device wins.
  mutating func join(_ portal: PortalQuestion.Status) {
    if word == nil, portal.isMetered { word = .portal(.yes) }
    isCaptive = isCaptive || portal.isCaptive
  }
}

/// Asks the services that manage the network about a path; for one thread at a time.
///
/// It connects with the first question, and again after a bus was lost.
final class NetworkAdviser {
  private var system = BusLine()
  private var portal = BusLine()

  /// The advice on a path; empty where no service knows.
  func advice(on path: NetworkPath, from services: NetworkServices) -> NetworkAdvice {
    var advice = NetworkAdvice()
    if let bus = system.bus(services.system) { advice = NetworkAdvice(on: path, bus) }
    if let bus = portal.bus(services.portal), let status = PortalQuestion.status(bus) { advice.join(status) }
    return advice
  }
}

/// A connection to a bus, made with the first question and kept.
private struct BusLine {
  private var choice = BusChoice.none
  private var kept: SystemBus?

  mutating func bus(_ choice: BusChoice) -> SystemBus? {
    // The connection stays while no service is asked.
    guard choice != .none else { return nil }
    if choice != self.choice || kept?.isOpen != true { (self.choice, kept) = (choice, choice.open()) }
    return kept
  }
}

/// The recent replies of services about paths, so that not every look asks them.
struct AdviceMemo: Sendable {
  private struct Question: Hashable {
    let path: NetworkPath
    let services: NetworkServices
  }

  private struct Answer {
    let advice: NetworkAdvice
    let askedAt: ContinuousClock.Instant
  }

  /// How long a reply is valid.
  let life: Duration
  private var answers: [Question: Answer] = [:]

  init(life: Duration) { self.life = life }

  /// The valid reply; nil if there is none.
  func advice(
    on path: NetworkPath,
    from services: NetworkServices,
    at now: ContinuousClock.Instant
  ) -> NetworkAdvice? {
    answers[Question(path: path, services: services)].flatMap { now - $0.askedAt < life ? $0.advice : nil }
  }

  /// Keeps a reply, unless there is one to a later question.
  mutating func note(
    _ advice: NetworkAdvice,
    on path: NetworkPath,
    from services: NetworkServices,
    askedAt: ContinuousClock.Instant
  ) {
    let question = Question(path: path, services: services)
    if let known = answers[question], known.askedAt > askedAt { return }
    answers = answers.filter { askedAt - $0.value.askedAt < life }
    answers[question] = Answer(advice: advice, askedAt: askedAt)
  }

  /// Forgets all replies, as an event came after them.
  mutating func forget() { answers = [:] }
}

/// The services to ask about the network besides the kernel.
package struct NetworkServices: Hashable, Sendable {
  /// The bus of NetworkManager and ModemManager.
  package var system: BusChoice
  /// The bus of the desktop's portal, which serves programs in a sandbox.
  package var portal: BusChoice

  /// No service.
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
  /// A bus at an address as D-Bus writes it, with the longest wait for a reply.
  case at(String, timeout: Duration = .milliseconds(200))

  func open() -> SystemBus? {
    switch self {
    case .none: nil
    case .system: SystemBus()
    case .at(let address, let timeout): SystemBus(address: address, timeout: timeout)
    }
  }
}

import FeedimgModel

/// What the services that manage the network say of a path.
struct NetworkAdvice: Hashable, Sendable {
  /// Whether data costs, and who says so; nil where nobody knows the device, or guesses that it does not.
  var word: Metering.Word?
  /// Whether the modem is in a foreign network.
  var isRoaming = false
  /// Whether the modem carries no data at present, as during a call.
  var isSuspended = false
  /// Whether a page to sign in at stands before the internet, as in hotels.
  var isCaptive = false
}

extension NetworkAdvice {
  /// Asks on the system's bus.
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

  /// Takes in what the portal says, which knows the network as a whole; who knows the device goes before.
  mutating func join(_ portal: PortalQuestion.Status) {
    if word == nil, portal.isMetered { word = .portal(.yes) }
    isCaptive = isCaptive || portal.isCaptive
  }
}

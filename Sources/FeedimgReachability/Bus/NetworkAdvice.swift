import FeedimgModel

/// What the services that manage the network say of a path.
struct NetworkAdvice: Hashable, Sendable {
  /// Whether data costs, as NetworkManager's user set it or as it guesses that it does; nil where it does not
  /// know the device, or guesses that it does not.
  var metered: Metered?
  /// Whether the modem is in a foreign network.
  var isRoaming = false
  /// Whether the modem carries no data at present, as during a call.
  var isSuspended = false
}

extension NetworkAdvice {
  /// Asks on a bus.
  ///
  /// The link that carries the data is asked for first, and then those above it: a bridge or a PPP connection
  /// has the setting, not its port. Tunnels are passed over, since what is below them is paid for.
  init(on path: NetworkPath, _ bus: some BusAsking) {
    self.init()
    let devices = path.links.reversed().filter { !$0.isTunnel }.map(\.name)
    metered = devices.lazy.compactMap { NetworkManagerQuestion.metered(device: $0, bus) }.first
    guard path.end.medium == .cellular, !path.end.isTether else { return }
    guard let modem = devices.lazy.compactMap({ ModemManagerQuestion.state(device: $0, bus) }).first else {
      return
    }
    isRoaming = modem.isRoaming
    isSuspended = modem.isSuspended
  }
}

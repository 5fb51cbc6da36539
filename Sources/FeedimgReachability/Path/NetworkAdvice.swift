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

  /// Adds the reply of the portal, which knows only the network as a whole.
  ///
  /// A reply about the device takes precedence.
  mutating func join(_ portal: NetworkAdvice) {
    statement = statement ?? portal.statement
    isCaptive = isCaptive || portal.isCaptive
  }
}

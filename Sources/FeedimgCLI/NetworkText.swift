import Feedimg

/// A network state as a person reads it.
enum NetworkText {
  static func whole(_ state: NetworkState) -> String {
    var lines = [Output.bold(headline(state))]
    if !state.via.isEmpty { lines.append(ResolutionText.line("through", state.via.joined(separator: " → "))) }
    if let route = state.route { lines.append(ResolutionText.line("route", route)) }
    lines.append(ResolutionText.line("because", state.reason))
    lines.append(ResolutionText.line("metered", "\(state.metered.rawValue): \(state.meteredReason)"))
    return lines.joined(separator: "\n")
  }

  /// One line, such as `14:03:10  wifi → cellular  wwan0  metered  the device type is wwan`.
  static func change(from previous: NetworkState?, to state: NetworkState, at time: String) -> String {
    let step = previous.map { "\($0.kind.rawValue) → " } ?? ""
    let parts = [
      time, step + state.kind.rawValue, state.device, "metered \(state.metered.rawValue)", state.reason,
    ]
    return parts.compactMap { $0 }.joined(separator: "  ")
  }

  private static func headline(_ state: NetworkState) -> String {
    let metered =
      switch state.metered {
      case .yes: "metered"
      case .no: "not metered"
      case .unknown: "metered or not is unknown"
      }
    let traits = [
      (state.isTethered, "tethered phone"), (state.isTunnelled, "through a VPN"),
      (state.isVirtual, "virtual"),
      (state.isRoaming, "roaming"),
    ].filter(\.0).map(\.1)
    return ([state.kind.rawValue] + (state.kind == .offline ? [] : [metered]) + traits).joined(
      separator: ", "
    )
  }
}

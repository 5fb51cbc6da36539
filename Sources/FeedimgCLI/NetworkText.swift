import Feedimg

/// The state of the network as text.
enum NetworkText {
  static func whole(_ state: NetworkState) -> String {
    var lines = [Output.bold(headline(state))]
    if !state.via.isEmpty { lines.append(ResolutionText.line("through", state.via.joined(separator: " → "))) }
    if let route = state.route { lines.append(ResolutionText.line("route", route)) }
    lines.append(ResolutionText.line("because", state.reason))
    lines.append(ResolutionText.line("metered", "\(state.metered.rawValue): \(state.meteredReason)"))
    return lines.joined(separator: "\n")
  }

  /// One line such as `14:03:10  wifi → cellular  wwan0  metered  the device type is wwan`.
  ///
  /// The columns have fixed widths, so that consecutive lines align.
  static func change(_ change: NetworkChange, at time: String) -> String {
    let state = change.state
    let isSameKind = change.previous.map { $0.kind == state.kind } ?? true
    let step = isSameKind ? "" : change.previous.map { "\($0.kind.rawValue) → " } ?? ""
    return [
      time, (step + state.kind.rawValue).padded(to: 19), (state.device ?? "-").padded(to: 9),
      (state.kind == .offline ? "-" : cost(of: state)).padded(to: 11), change.why,
    ].joined(separator: "  ")
  }

  static func mark(_ mark: NetworkMark) -> String {
    (mark.metered == .yes ? "metered" : "unmetered").padded(to: 11) + mark.network.text
  }

  private static func cost(of state: NetworkState) -> String {
    switch state.metered {
    case .yes: "metered"
    case .no: "not metered"
    case .unknown: "unknown"
    }
  }

  private static func headline(_ state: NetworkState) -> String {
    let metered = state.metered == .unknown ? "metering unknown" : cost(of: state)
    let traits = [
      (state.isTethered, "tethered phone"), (state.isTunnelled, "through a VPN"),
      (state.isVirtual, "virtual"),
      (state.isRoaming, "roaming"), (state.isCaptive, "behind a login page"),
    ].filter(\.0).map(\.1)
    return ([state.kind.rawValue] + (state.kind == .offline ? [] : [metered]) + traits).joined(
      separator: ", "
    )
  }
}

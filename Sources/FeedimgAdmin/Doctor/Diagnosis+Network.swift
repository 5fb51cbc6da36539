import Feedimg
import FeedimgModel
import FeedimgReachability

extension Diagnosis {
  /// The sources of information about the network.
  static func sources(_ report: NetworkReport) -> [Finding] {
    report.sources.map { source in
      let verdict: Verdict =
        switch source.verdict {
        case .available: .ok
        case .limited: .warning
        case .missing: .no
        }
      return Finding(source.name, verdict, source.remark)
    }
  }

  /// The class of the network and whether it is metered.
  static func network(_ state: NetworkState) -> Finding {
    let isKnown = state.kind != .other && state.kind != .offline
    let text =
      switch state.kind {
      case .offline: "offline: \(state.reason); only cached images can be shown"
      case .other: "unknown kind, treated like cellular: \(state.reason)"
      default:
        "\(state.kind.rawValue): \(state.reason); metered \(state.metered.rawValue): \(state.meteredReason)"
      }
    return Finding("network", isKnown ? .ok : .warning, text)
  }

  /// The battery charge, which policies may use.
  static func battery(_ reading: BatteryReading) -> Finding {
    let text =
      reading.percent.map { "\($0) %: \(reading.source)" }
      ?? "\(reading.source); for policies, the charge is unknown"
    return Finding("battery", .ok, text)
  }
}

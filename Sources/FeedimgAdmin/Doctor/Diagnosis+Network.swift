import Feedimg
import FeedimgModel
import FeedimgReachability

extension Diagnosis {
  /// The sources of information about the network.
  static func sources(_ report: NetworkReport) -> [Finding] {
    var findings = report.sources.map { source in
      Finding(source.name, source.isAvailable ? .ok : .no, source.remark)
    }
    if let isFiltered = NetlinkReader().filtersEvents {
      let text =
        isFiltered
        ? "the kernel drops events about routes to single networks, so they wake no program"
        : "every route change wakes programs that watch the network"
      let place = findings.firstIndex { $0.subject == "netlink events" }.map { $0 + 1 } ?? findings.endIndex
      findings.insert(Finding("event filter", isFiltered ? .ok : .warning, text), at: place)
    }
    return findings
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

import Feedimg
import FeedimgModel
import FeedimgReachability

extension Diagnosis {
  /// Where knowledge of the network comes from.
  static func sources(_ report: NetworkReport) -> [Finding] {
    var findings = report.sources.map { source in
      Finding(subject: source.name, verdict: source.isAvailable ? .ok : .no, text: source.remark)
    }
    if let isFiltered = NetlinkReader().filtersEvents {
      let filter = Finding(
        subject: "event filter",
        verdict: isFiltered ? .ok : .warning,
        text: isFiltered
          ? "changes of routes to single networks wake nobody"
          : "each change of any route wakes programs that watch the network"
      )
      let place = findings.firstIndex { $0.subject == "netlink events" }.map { $0 + 1 } ?? findings.endIndex
      findings.insert(filter, at: place)
    }
    return findings
  }

  /// What comes of it.
  static func network(_ state: NetworkState) -> Finding {
    let isKnown = state.kind != .other && state.kind != .offline
    let text =
      switch state.kind {
      case .offline: "offline: \(state.reason); only what is cached can be shown"
      case .other: "its kind cannot be told, so that it is treated like cellular: \(state.reason)"
      default:
        "\(state.kind.rawValue): \(state.reason); metered \(state.metered.rawValue): \(state.meteredReason)"
      }
    return Finding(subject: "network", verdict: isKnown ? .ok : .warning, text: text)
  }

  /// The charge that policies may ask about.
  static func battery(_ reading: BatteryReading) -> Finding {
    let text =
      reading.percent.map { "\($0) %: \(reading.source)" }
      ?? "\(reading.source); policies find the charge unknown"
    return Finding(subject: "battery", verdict: .ok, text: text)
  }

  /// The data of the kernel, and the verdict drawn from it.
  static func evidence(_ report: NetworkReport, _ state: NetworkState) -> [String] {
    report.evidence + ["verdict: \(state.json)"]
  }
}

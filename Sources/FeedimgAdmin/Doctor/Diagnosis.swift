public import Feedimg
import FeedimgJSON
import FeedimgReachability

/// What feedimg can and cannot do on this system, and why.
///
/// Making one looks at everything once, which takes some milliseconds; nothing is changed and no packet sent.
public struct Diagnosis: Sendable, Hashable {
  /// How something is.
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// It is as it should be.
    case ok
    /// It is not there, and something is lost without it.
    case no
    /// It works, but not as well as it could.
    case warning
    /// It does not work, and the text says how to mend it.
    case broken
  }

  /// What was found about one thing.
  public struct Finding: Sendable, Hashable {
    /// What was looked at, such as `netlink`.
    public var subject: String
    /// How it is.
    public var verdict: Verdict
    /// What follows from that, in one sentence.
    public var text: String
    /// Whether feedimg cannot work this way.
    public var isFatal = false
  }

  /// In the order in which a load uses what they are about.
  public private(set) var findings: [Finding] = []
  /// What the system said, line by line, to paste into a report of a fault.
  public private(set) var evidence: [String] = []

  /// Whether feedimg can do its work, though perhaps not all of it.
  public var canWork: Bool { !findings.contains(where: \.isFatal) }

  /// Whether nothing is broken.
  public var isHealthy: Bool { canWork && !findings.contains { $0.verdict == .broken } }

  /// Looks at this system.
  ///
  /// - Parameters:
  ///   - configuration: What a loader would work with.
  ///   - isMasked: Whether addresses of the internet, hardware addresses and the home folder are left out.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration(),
    isMasked: Bool = true
  ) {
    let services = NetworkServices(of: configuration)
    let report = NetlinkReader(services: services).report()
    let network = NetworkStatus(configuration)
    findings += Self.sources(report) + [Self.network(network.state), Self.battery(BatteryReader().read())]
    findings += [Self.transfer, Self.index] + Self.folders(configuration)
    findings += Self.images(configuration) + Self.service(configuration) + Self.memory(configuration)
    findings += Self.refusedPolicies(configuration) + [Self.policy(configuration)]
    evidence = SystemRelease.lines() + Self.evidence(report, network.state)
    guard isMasked else { return }
    let mask = EvidenceMask(home: configuration.environment["HOME"])
    for index in findings.indices { findings[index].text = mask.applied(to: findings[index].text) }
    evidence = evidence.map(mask.applied)
  }
}

extension Diagnosis {
  /// The findings as one line of JSON.
  ///
  /// - Parameter hasEvidence: Whether the evidence is part of it.
  /// - Returns: One object.
  public func json(withEvidence hasEvidence: Bool = false) -> String {
    var object = JSONObject([("works", .bool(canWork)), ("healthy", .bool(isHealthy))])
    object["findings"] = .array(
      findings.map {
        [
          "subject": .string($0.subject), "verdict": .string($0.verdict.rawValue), "text": .string($0.text),
          "fatal": .bool($0.isFatal),
        ]
      }
    )
    if hasEvidence { object["evidence"] = .array(evidence.map(JSONValue.string)) }
    return JSONValue.object(object).text(.compact)
  }
}

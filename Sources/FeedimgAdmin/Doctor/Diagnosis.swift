public import Feedimg
import FeedimgJSON
import FeedimgReachability
import FeedimgSettings

/// A check of the features that work on this system.
///
/// Creating a diagnosis runs all checks. They change no setting and no image, and contact no other machine. They
/// connect to the socket of the user's service, which starts the service under systemd, and send a request to its
/// gateway. They take some milliseconds, or two seconds if the gateway does not respond.
public struct Diagnosis: Sendable, Hashable {
  /// The result of a check.
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The subject works.
    case ok
    /// The subject is missing, and a feature does not work without it.
    case no
    /// The subject works with limits.
    case warning
    /// The subject does not work; the text says how to repair it.
    case broken
  }

  /// The result of one check.
  public struct Finding: Sendable, Hashable {
    /// The checked part, such as `netlink`.
    public var subject: String
    /// The result.
    public var verdict: Verdict
    /// The consequence, in one sentence.
    public var text: String
    /// Whether feedimg cannot load any image.
    public var isFatal = false

    init(_ subject: String, _ verdict: Verdict, _ text: String, isFatal: Bool = false) {
      (self.subject, self.verdict, self.text, self.isFatal) = (subject, verdict, text, isFatal)
    }
  }

  /// The results, in the order in which a load uses the parts.
  public private(set) var findings: [Finding] = []
  /// The system's own data, line by line, for a bug report.
  public private(set) var evidence: [String] = []

  /// Whether feedimg can load images, even if some features do not work.
  public var canWork: Bool { !findings.contains(where: \.isFatal) }

  /// Whether nothing is broken.
  public var isHealthy: Bool { canWork && !findings.contains { $0.verdict == .broken } }

  /// Checks this system.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the loader.
  ///   - isMasked: Whether to hide public addresses, hardware addresses and the home folder.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration(),
    isMasked: Bool = true
  ) {
    let services = NetworkServices(of: configuration)
    let report = NetlinkReader(services: services).report()
    let network = NetworkStatus(configuration)
    findings += Self.sources(report) + [Self.network(network.state), Self.battery(BatteryReader().read())]
    let folders = Folders(configuration)
    let store = (try? folders.configuration).map { SettingsStore(folder: $0) }
    let limit = store?.currentSettings().cacheMemoryLimit
    findings += [Self.transfer, Self.index] + Self.folders(folders, store?.takeWarnings() ?? [])
    findings += Self.images(configuration) + Self.service(configuration)
    findings += Self.memory(limit, configuration.environment) + Self.policies(configuration)
    evidence = SystemRelease.lines() + report.evidence + ["verdict: \(network.state.json)"]
    guard isMasked else { return }
    let mask = EvidenceMask(home: configuration.environment["HOME"])
    for index in findings.indices { findings[index].text = mask.applied(to: findings[index].text) }
    evidence = evidence.map(mask.applied)
  }
}

extension Diagnosis {
  /// The findings as one line of JSON.
  ///
  /// - Parameter hasEvidence: Whether to include the evidence.
  /// - Returns: One JSON object.
  public func json(withEvidence hasEvidence: Bool = false) -> String {
    let findings = findings.map { finding -> JSONValue in
      [
        "subject": .string(finding.subject), "verdict": .string(finding.verdict.rawValue),
        "text": .string(finding.text), "fatal": .bool(finding.isFatal),
      ]
    }
    var object: JSONObject = [
      "works": .bool(canWork), "healthy": .bool(isHealthy), "findings": .array(findings),
    ]
    if hasEvidence { object["evidence"] = .array(evidence.map(JSONValue.string)) }
    return JSONValue.object(object).text(.compact)
  }
}

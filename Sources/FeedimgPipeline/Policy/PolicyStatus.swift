import FeedimgJSON
import FeedimgPolicy

/// The policy in force, its source, and why no other one applies.
public struct PolicyStatus: Sendable, Hashable {
  /// One possible source of the policy, and its status.
  public struct Candidate: Sendable, Hashable {
    /// The status of a source.
    public enum Status: String, Sendable, Hashable {
      /// The policy in force comes from this source.
      case inForce = "in force"
      /// The source has a file, but it is invalid.
      case refused
      /// A source of higher precedence has a policy of the same name.
      case replaced
      /// The source has no file.
      case missing
    }

    /// The origin of this source.
    public var layer: PolicyLayer
    /// The path of the file; nil for a built-in policy.
    public var path: String?
    /// The status of this source.
    public var status = Status.missing
    /// The reasons for a refusal, one line each; empty otherwise.
    public var reasons: [String] = []
  }

  /// The name, such as `default`.
  public var name: String
  /// The origin of the policy in force.
  public var layer: PolicyLayer
  /// The path of its file; nil for a built-in policy.
  public var path: String?
  /// Whether an earlier version of the file decides, because the present one was refused.
  public var isEarlier: Bool
  /// The number of rules.
  public var ruleCount: Int
  /// The number of states that its rules distinguish.
  public var stateCount: Int
  /// All possible sources, in order of precedence.
  public var candidates: [Candidate]

  /// The sources with an invalid file.
  public var refused: [Candidate] { candidates.filter { $0.status == .refused } }

  package init(
    _ selection: PolicySelection,
    _ readings: [PolicyReading],
    _ choice: PolicySelection.Choice,
    _ chosen: PolicySelection.Chosen
  ) {
    name = chosen.policy.name
    (layer, path) = (chosen.source.layer, chosen.source.file?.path)
    isEarlier = choice.isEarlier
    ruleCount = chosen.policy.table.rules.count
    stateCount = (try? chosen.policy.table.space().possibleCount) ?? 0
    candidates = zip(selection.sources, readings).map { source, reading in
      var candidate = Candidate(layer: source.layer, path: source.file?.path)
      if let refusal = choice.refusals.first(where: { $0.source == source }) {
        candidate.status = .refused
        candidate.reasons = refusal.fault.messages
      } else if source == chosen.source {
        candidate.status = .inForce
      } else if reading != .nothing {
        candidate.status = .replaced
      }
      return candidate
    }
  }

  /// The same as one line of JSON.
  public var json: String {
    let value: JSONValue = [
      "policy": .string(name), "layer": .string(layer.rawValue), "file": .optional(path),
      "earlierVersion": .bool(isEarlier), "rules": .integer(ruleCount), "states": .integer(stateCount),
      "candidates": .array(candidates.map(\.json)),
    ]
    return value.text(.compact)
  }
}

extension PolicyStatus.Candidate {
  fileprivate var json: JSONValue {
    var object = JSONObject([
      ("layer", .string(layer.rawValue)), ("file", .optional(path)), ("status", .string(status.rawValue)),
    ])
    if status == .refused { object["reasons"] = .array(reasons.map(JSONValue.string)) }
    return .object(object)
  }
}

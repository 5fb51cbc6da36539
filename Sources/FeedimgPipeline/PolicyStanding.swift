import FeedimgJSON
import FeedimgPolicy

/// Which policy decides, where it comes from, and why no other one does.
public struct PolicyStanding: Sendable, Hashable {
  /// One place that a policy could have come from, and what became of it.
  public struct Candidate: Sendable, Hashable {
    /// What became of a place.
    public enum Status: String, Sendable, Hashable {
      /// The policy in force stands here.
      case inForce = "in force"
      /// There is a file, but it is not in order.
      case refused
      /// A later place holds one of the same name.
      case replaced
      /// There is nothing.
      case missing
    }

    /// Which place.
    public var layer: PolicyLayer
    /// The file that was looked for; nil for what comes with feedimg.
    public var path: String?
    /// What became of it.
    public var status = Status.missing
    /// Why it was refused, a line each; empty otherwise.
    public var reasons: [String] = []
  }

  /// Such as `default`.
  public var name: String
  /// Where the policy that decides comes from.
  public var layer: PolicyLayer
  /// Its file; nil for what comes with feedimg.
  public var path: String?
  /// Whether an earlier version of the file decides, as the present one is refused.
  public var isEarlier: Bool
  /// How many rules it has.
  public var ruleCount: Int
  /// How many states its rules can tell apart.
  public var stateCount: Int
  /// All places, the one that counts first in front.
  public var candidates: [Candidate]

  /// The places whose file is not in order.
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

extension PolicyStanding.Candidate {
  fileprivate var json: JSONValue {
    var object = JSONObject([
      ("layer", .string(layer.rawValue)), ("file", .optional(path)), ("status", .string(status.rawValue)),
    ])
    if status == .refused { object["reasons"] = .array(reasons.map(JSONValue.string)) }
    return .object(object)
  }
}

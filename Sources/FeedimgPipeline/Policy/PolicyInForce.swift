import FeedimgJSON
package import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import Synchronization

/// The policy that a loader uses: the current version of its file, or the last valid one.
///
/// Most calls only read the timestamps of a few files. The caller that finds a change reads the files again in
/// full, and other callers wait for it.
package final class PolicyInForce: Sendable {
  private struct State {
    var chosen: PolicySelection.Chosen
    /// The result of the choice, with the refused sources.
    var choice: PolicySelection.Choice
    var readings: [PolicyReading]
    var files: PolicyFileCheck
    var warnings: [String] = []
    /// Whether another part of the program needs the cost of data.
    var isCostRequired = false
    var onChange: (@Sendable () -> Void)?
  }

  /// The policies of this machine, the one in force included.
  let catalog: PolicyCatalog
  private let selection: PolicySelection
  private let clock: @Sendable () -> Double
  /// Guards the state; held while files are read, so that each decision uses the latest version.
  private let state: Mutex<State>

  /// Reads the policy.
  ///
  /// - Throws: ``PolicyFileError`` if no source holds a valid policy.
  init(
    _ selection: PolicySelection,
    on catalog: PolicyCatalog,
    clock: @escaping @Sendable () -> Double
  ) throws(PolicyFileError) {
    self.catalog = catalog
    self.selection = selection
    self.clock = clock
    let files = PolicyFileCheck(selection.stamps(), at: clock())
    let readings = selection.read()
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen else { throw choice.fault }
    state = Mutex(
      State(
        chosen: chosen,
        choice: choice,
        readings: readings,
        files: files,
        warnings: choice.warnings
      )
    )
  }

  /// Reads the policy that a program chooses.
  ///
  /// - Throws: ``ConfigurationError`` if the policy is missing or invalid.
  package convenience init(
    _ policy: PolicyChoice,
    on catalog: PolicyCatalog
  ) throws(ConfigurationError) {
    do throws(PolicyFileError) {
      try self.init(try catalog.selection(of: policy), on: catalog, clock: SystemClock.seconds)
    } catch {
      throw ConfigurationError(error.messages)
    }
  }

  /// The paths of all files that may hold the policy now or later.
  var paths: [String] { selection.sources.compactMap { $0.file?.path } }

  /// Returns the current policy.
  package func current() -> CompiledPolicy {
    let (policy, onChange) = state.withLock { state in
      let isNew = refresh(&state)
      return (state.chosen.policy, isNew ? state.onChange : nil)
    }
    onChange?()
    return policy
  }

  /// The policy of the latest decision, without another check of the files.
  package var latest: CompiledPolicy { state.withLock { $0.chosen.policy } }

  /// Calls back when another policy comes into force, on the thread that found the change.
  func listen(_ onChange: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = onChange } }

  /// Whether the cost of data must be read: for this policy, for another one in use, or for a transfer.
  package var needsCost: Bool { state.withLock { $0.isCostRequired || $0.chosen.policy.needsCost } }

  /// Reads the cost of data from now on.
  ///
  /// - Returns: Whether the cost was not read before.
  @discardableResult
  package func requireCost() -> Bool {
    state.withLock { state in
      defer { state.isCostRequired = true }
      return !state.isCostRequired && !state.chosen.policy.needsCost
    }
  }

  /// Returns the source of the policy, and the state of the other sources.
  func status() -> PolicyStatus {
    _ = current()
    let state = state.withLock { $0 }
    return PolicyStatus(selection, state.readings, state.choice, state.chosen)
  }

  /// Returns the warnings for the user, each once.
  func takeWarnings() -> [String] {
    state.withLock { state in
      defer { state.warnings = [] }
      return state.warnings
    }
  }

  /// Checks the files if they may have changed, and reads them again if they have.
  ///
  /// - Returns: Whether another policy is now in force.
  private func refresh(_ state: inout State) -> Bool {
    guard state.files.mayHaveChanged(selection.stamps(), at: clock()) else { return false }
    let readings = selection.read()
    // The files may only have been touched, or checked again because a change might not have shown.
    guard readings != state.readings else { return false }
    let choice = selection.choose(readings, keeping: state.chosen)
    state.readings = readings
    guard let chosen = choice.chosen else { return false }
    (state.chosen, state.choice) = (chosen, choice)
    state.warnings += choice.warnings
    return true
  }
}

/// Finds out whether the files of a policy may have changed, without reading them.
struct PolicyFileCheck {
  private var stamps: [FileStamp]
  /// Whether the stamps would show every later change.
  private var isSettled: Bool

  init(_ stamps: [FileStamp], at now: Double) {
    (self.stamps, isSettled) = (stamps, stamps.allSatisfy { $0.isSettled(at: now) })
  }

  /// Compares the stamps with those of the latest call.
  mutating func mayHaveChanged(_ stamps: [FileStamp], at now: Double) -> Bool {
    guard stamps != self.stamps || !isSettled else { return false }
    self = PolicyFileCheck(stamps, at: now)
    return true
  }
}

/// The policies that callers name for single loads, each read once.
package final class NamedPolicies: Sendable {
  /// Guards the policies; files are read outside the lock.
  private let policies = Mutex<[String: PolicyInForce]>([:])

  /// The most policies kept; others are read each time.
  private static let maximumCount = 64

  init() {}

  /// Returns the policy with a name; refuses paths, so that no caller can read files.
  ///
  /// - Throws: ``ConfigurationError`` if the policy is missing or invalid.
  func policy(named name: String, on catalog: PolicyCatalog) throws(ConfigurationError) -> PolicyInForce {
    if let known = policies.withLock({ $0[name] }) { return known }
    try catalog.checkName(name)
    let policy = try PolicyInForce(.named(name), on: catalog)
    policies.withLock { policies in
      if policies.count < Self.maximumCount { policies[name] = policy }
    }
    return policy
  }
}

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

public import Feedimg
import FeedimgJSON
public import FeedimgModel
import FeedimgPolicy
import FeedimgReachability
import FeedimgSettings
import FeedimgSystem
import FeedimgUsage

extension Policies {
  /// The explanation of a decision.
  public struct Explanation: Sendable {
    /// The tried rules, one line each, and then the decision.
    public var lines: [String]
    /// Every fact with its value and source.
    public var facts: [FactReading]
    /// Warnings for the user, such as that a file is refused.
    public var warnings: [String]
    /// The explanation as one line of JSON.
    public var json: String
  }

  /// Explains the decision of a policy in one situation.
  ///
  /// Facts that are not given are unknown. Both variants count as available and not cached, all settings as
  /// off, and all quantities as unknown.
  ///
  /// - Parameters:
  ///   - argument: A name or a file.
  ///   - given: The known facts.
  ///   - isLive: Whether to read the other facts from the network and settings of this machine.
  /// - Returns: The tried rules with their reasons.
  /// - Throws: ``PolicyFileError`` if the policy or a fact is invalid, or the policy does not cover all states.
  public func explain(
    _ argument: String,
    given: [SituationOverride] = [],
    isLive: Bool = false
  ) throws(PolicyFileError) -> Explanation {
    let named = try named(argument)
    let catalog = try catalog(of: named.table)
    // The defaults of unknown facts; both variants are available, but not cached.
    var known = KnownFacts(Situation(network: .other, original: .remote, thumbnail: .remote))
    let policy = try convertingErrors { () throws(PolicyErrors) in try CompiledPolicy(named.table) }
    var warnings = named.warnings
    if isLive {
      let (snapshot, ledger) = try snapshot(for: policy)
      known.read(snapshot)
      warnings += ledger?.takeWarnings() ?? []
    }
    do throws(FactError) {
      for given in given {
        let fact = try CheckedOverride(given, among: catalog)
        known.set(fact)
        // The metering of the active network does not apply to the given network.
        if fact.fact == .network, known.sources[.metered] != given.source {
          known.setMetered(.unknown, source: nil)
        }
      }
    } catch {
      throw PolicyFileError([error.description], isUnreadable: true)
    }
    return Explanation(FeedimgPolicy.Explanation(policy, in: known.situation), known, warnings: warnings)
  }

  /// The facts of this machine, read in the same way as in a loader.
  private func snapshot(for policy: CompiledPolicy) throws(PolicyFileError) -> (FactSnapshot, UsageLedger?) {
    let folders = Folders(configuration)
    let settings: UserSettings
    do throws(ConfigurationError) {
      settings = SettingsStore(folder: try folders.configuration).currentSettings()
    } catch {
      throw PolicyFileError(error.messages, isUnreadable: true)
    }
    let ledger = (try? folders.usage).map { UsageLedger(folder: $0, clock: SystemClock.seconds) }
    let snapshot = FactSnapshot(
      for: policy,
      network: NetworkStatus(configuration).state,
      settings: settings,
      usage: ledger,
      memory: (try? folders.state).map { BandwidthMemory(folder: $0) },
      at: SystemClock.seconds()
    )
    return (snapshot, ledger)
  }
}

extension Policies.Explanation {
  /// The source of a fact that is not given.
  private static let notGiven = "not given"

  init(_ explanation: FeedimgPolicy.Explanation, _ known: KnownFacts, warnings: [String]) {
    lines = explanation.lines
    facts = explanation.facts.map {
      FactReading(
        name: $0.name,
        value: $0.value(in: explanation.situation),
        source: known.sources[$0] ?? ($0.inputs.isEmpty ? Self.notGiven : $0.defaultSource)
      )
    }
    self.warnings = warnings
    let assumed = facts.filter { $0.source == Self.notGiven }
    json = explanation.json.adding(["assumed": .array(assumed.map { .string($0.name) })]).text(.compact)
  }
}

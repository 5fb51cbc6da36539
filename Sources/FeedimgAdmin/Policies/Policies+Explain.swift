public import Feedimg
import FeedimgJSON
public import FeedimgModel
import FeedimgPolicy
import FeedimgReachability
import FeedimgSettings
import FeedimgSystem
import FeedimgUsage

extension Policies {
  /// How a policy came to a decision.
  public struct Account: Sendable {
    /// The rules that were tried, a line each, and then the decision.
    public var lines: [String]
    /// Every fact with the value that counted, and whence it came.
    public var facts: [FactReading]
    /// What the user should know, such as that a file is refused.
    public var warnings: [String]
    /// The same as one line of JSON.
    public var json: String
  }

  /// Why a policy decides what it does in one situation.
  ///
  /// A fact that is not given is one that nobody knows: the network tells no kind, the price is unknown, both variants
  /// can be had and neither is cached, nothing is set and nothing is counted.
  ///
  /// - Parameters:
  ///   - argument: A name or a file.
  ///   - given: The facts that are known.
  ///   - isLive: Whether to look at the network and the settings of this machine for those that are not given.
  /// - Returns: The rules that were tried, with their reasons.
  /// - Throws: ``PolicyFault`` for a policy or a fact that was not understood, or a policy that is not total.
  public func explain(
    _ argument: String,
    given: [SituationOverride] = [],
    isLive: Bool = false
  ) throws(PolicyFault) -> Account {
    let asked = try asked(argument)
    let catalog = try catalog(of: asked.table)
    // What is not told is as the table of facts has it where it is unknown; a variant can be had, but is not cached.
    var known = KnownFacts(Situation(network: .other, original: .remote, thumbnail: .remote))
    let policy = try compiled(asked.table)
    var warnings = asked.warnings
    if isLive {
      let (snapshot, ledger) = try snapshot(for: policy)
      known.read(snapshot)
      warnings += ledger?.takeWarnings() ?? []
    }
    do throws(FactError) {
      for given in given {
        let fact = try CheckedOverride(given, among: catalog)
        known.set(fact)
        // The price that was seen is that of another network.
        if fact.fact == .network, known.sources[.metered] != given.source {
          known.setMetered(.unknown, source: nil)
        }
      }
    } catch {
      throw PolicyFault([error.description], isUnreadable: true)
    }
    return Account(Explanation(policy, in: known.situation), known, warnings: warnings)
  }

  /// The facts of this machine, read as a loader reads them.
  private func snapshot(for policy: CompiledPolicy) throws(PolicyFault) -> (FactSnapshot, UsageLedger?) {
    let settings = try settings()
    let folders = Folders(configuration)
    let ledger = (try? folders.usage).map { UsageLedger(folder: $0, clock: SystemClock.seconds) }
    let snapshot = FactSnapshot(
      for: policy,
      network: NetworkStatus(configuration).state,
      settings: settings,
      usage: ledger,
      from: FactSources(bandwidth: (try? folders.state).map { BandwidthMemory(folder: $0) }),
      at: SystemClock.seconds()
    )
    return (snapshot, ledger)
  }

  private func compiled(_ table: PolicyTable) throws(PolicyFault) -> CompiledPolicy {
    do throws(PolicyErrors) {
      return try CompiledPolicy(table)
    } catch {
      throw PolicyFault(error.errors.map(\.description))
    }
  }

  private func settings() throws(PolicyFault) -> UserSettings {
    do throws(ConfigurationError) {
      return SettingsStore(folder: try Folders(configuration).configuration).currentSettings()
    } catch {
      throw PolicyFault(error.messages, isUnreadable: true)
    }
  }
}

extension Policies.Account {
  /// The source of a fact that nothing told.
  private static let untold = "not told"

  init(_ explanation: Explanation, _ known: KnownFacts, warnings: [String]) {
    lines = explanation.lines
    facts = explanation.facts.map {
      FactReading(
        name: $0.name,
        value: $0.value(in: explanation.situation),
        source: known.sources[$0] ?? ($0.inputs.isEmpty ? Self.untold : $0.defaultSource)
      )
    }
    self.warnings = warnings
    guard case .object(var object) = explanation.json else {
      json = ""
      return
    }
    let assumed = facts.filter { $0.source == Self.untold }
    object["assumed"] = .array(assumed.map { .string($0.name) })
    json = JSONValue.object(object).text(.compact)
  }
}

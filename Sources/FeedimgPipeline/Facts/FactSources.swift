package import FeedimgModel
package import FeedimgSystem

/// The sources of the facts, and the policy.
package struct FactSources: Sendable {
  let network: any NetworkMonitoring
  let settings: any SettingsReading
  /// The policy of the program; single loads may use another one.
  let policy: PolicyInForce
  let hostFacts: HostFacts
  /// The ledger; nil if usage is not counted.
  let usage: (any UsageKeeping)?
  package let meter: UsageMeter?
  /// The stored bandwidth; nil if nothing is kept between runs.
  let bandwidthMemory: BandwidthMemory?
  /// The policies that callers name for single loads.
  let namedPolicies = NamedPolicies()

  /// - Parameters:
  ///   - network: The network.
  ///   - settings: The user's settings.
  ///   - policy: The policy of the program.
  ///   - hostFacts: The facts of the application.
  ///   - usage: The ledger; nil to count nothing.
  ///   - bandwidthMemory: The stored bandwidth; nil to keep none.
  ///   - time: The clock of the meter.
  ///   - writes: The thread that writes the ledger.
  package init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    policy: PolicyInForce,
    hostFacts: HostFacts = HostFacts([]),
    usage: (any UsageKeeping)? = nil,
    bandwidthMemory: BandwidthMemory? = nil,
    time: MonotonicTime,
    writes: ThreadExecutor
  ) {
    (self.network, self.settings, self.policy, self.hostFacts) = (network, settings, policy, hostFacts)
    (self.usage, self.bandwidthMemory) = (usage, bandwidthMemory)
    meter = usage.map { UsageMeter($0, network: network, time: time, on: writes) }
  }
}

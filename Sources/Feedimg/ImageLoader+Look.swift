import FeedimgModel
import FeedimgPolicy

extension ImageLoader {
  /// A look at the network, the settings and the policy.
  func outlook(trustingNetwork: Bool = false) -> Outlook {
    let (reader, policy) = look(trustingNetwork: trustingNetwork)
    return Outlook(reader, policy)
  }

  /// The same without what puts decisions into words.
  func look(trustingNetwork: Bool = false) -> (reader: SituationReader, policy: CompiledPolicy) {
    let isNetworkGiven = overrides.contains { $0.fact == .network }
    // First, since it decides whom the network is asked of.
    let policy = policy.current()
    let settings = settings.currentSettings()
    let sight = Sight(
      network: isNetworkGiven ? nil : trustingNetwork ? seenNetwork() : failures.judged(seenNetwork()),
      asksAboutCost: policy.asksAboutCost,
      settings: settings,
      budget: BudgetReading(for: policy, settings, usage),
      bandwidth: gate.bandwidth
    )
    return (latestReader.reader(of: sight, overrides, hostFacts.declared), policy)
  }

  /// The network as it is; what comes from here on, comes over it.
  private func seenNetwork() -> NetworkState {
    let state = network.currentState()
    meter?.note(state)
    return state
  }
}

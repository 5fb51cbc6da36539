import FeedimgCache
import FeedimgModel
import FeedimgPolicy

extension ImageLoader {
  /// A look at the network, the settings and the policy.
  package func decisionContext(trustingNetwork: Bool = false) -> DecisionContext {
    let (reader, policy) = look(trustingNetwork: trustingNetwork)
    return DecisionContext(reader, policy)
  }

  /// The same without what puts decisions into words.
  func look(trustingNetwork: Bool = false) -> (reader: SituationReader, policy: CompiledPolicy) {
    // First, since it decides whom the network is asked of.
    let policy = policy.current()
    let snapshot = snapshot(for: policy, trustingNetwork: trustingNetwork)
    return (snapshotCache.reader(of: snapshot, overrides, hostFacts.declared), policy)
  }

  /// What would be decided of an item now, as by ``resolve(_:facts:)``, without the reasons in words.
  package func decide(_ item: FeedItem) -> DecisionContext.Decided {
    let context = decisionContext()
    let isCached = presence(of: [item], context)
    let values = hostFacts.declared(in: [:])
    let situation = context.situation(of: item, values, isCached: isCached)
    let decision = context.policy.decide(situation)
    return DecisionContext.Decided(
      context: context,
      item: item,
      values: values,
      situation: situation,
      decision: decision
    )
  }

  /// Asks the cache about the images of items; whether it has that of a URL, where it matters.
  package func presence(of items: [FeedItem], _ context: DecisionContext) -> (ImageURL) -> Bool {
    let keys =
      context.asksCache ? items.flatMap { [$0.original, $0.thumbnail].compactMap { $0?.url.key } } : []
    let cached = Set(zip(keys, keys.isEmpty ? [] : store.contains(keys)).lazy.filter(\.1).map(\.0))
    return { cached.contains($0.key) || self.memory[$0.key] != nil }
  }

  /// Has services be asked what data costs from now on, whatever the policy depends on, as something is to be transferred:
  /// what servers are told, what it is counted as, and whether it is prefetched at all depend on it.
  ///
  /// - Returns: Whether they were not before, so that something else may be decided now.
  @discardableResult
  package func askAboutCost() -> Bool {
    let isNews = policy.askAboutCost()
    // The network is looked at for all who share it.
    guard base?.policy.askAboutCost() ?? isNews else { return isNews }
    network.refresh()
    _ = look()
    return true
  }

  /// The network as it is; what comes from here on, comes over it.
  func seenNetwork() -> NetworkState {
    let state = network.currentState()
    meter?.note(state)
    facts.saw(state)
    return state
  }
}

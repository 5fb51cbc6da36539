import FeedimgHTTPCache
import FeedimgModel
import FeedimgPolicy
import FeedimgSystem
import Synchronization

extension ImageLoader {
  /// Returns the current facts with the policy.
  package func decisionContext(trustingNetwork: Bool = false) -> DecisionContext {
    // Read the policy first, because it decides which services are asked about the network.
    let policy = policy.current()
    let snapshot = snapshot(for: policy, trustingNetwork: trustingNetwork)
    return snapshotCache.context(of: snapshot, policy)
  }

  private func snapshot(for policy: CompiledPolicy, trustingNetwork: Bool) -> FactSnapshot {
    let isNetworkGiven = overrides.contains { $0.fact == .network }
    let network = isNetworkGiven ? nil : resources.currentNetwork()
    let (measured, now) = (resources.transport.scheduler.link.withLock { $0.measurement }, resources.clock())
    if let measured, let memory = resources.sources.bandwidthMemory, memory.note(measured, at: now) {
      // A decision never waits for the disk.
      resources.storage.writes.enqueue { memory.flush() }
    }
    let settings = resources.sources.settings.currentSettings()
    resources.factMonitor.observed(settings)
    var snapshot = FactSnapshot(
      for: policy,
      network: network.map { trustingNetwork ? $0 : resources.transport.retries.liveness.judged($0) },
      settings: settings,
      usage: resources.sources.usage,
      bandwidth: measured,
      memory: resources.sources.bandwidthMemory,
      at: now
    )
    snapshot.needsCost = policy.needsCost
    return snapshot
  }

  /// Looks up the images of items in the cache; the result returns whether the image of a URL is cached.
  ///
  /// If decisions do not depend on the disk, only memory is checked.
  package func presence(
    of items: [FeedItem],
    _ context: DecisionContext,
    by cache: CachePolicy = .default
  ) -> (ImageURL) -> Bool {
    var stored: Set<String> = []
    if context.reader.asksCache, cache.usesDisk {
      var keys: [String] = []
      for item in items {
        for role in ImageVariant.Role.allCases {
          if let variant = item[role] { keys.append(identity.key(of: variant.url)) }
        }
      }
      stored = storedKeys(among: keys)
    }
    resources.storage.memory.dropRemoved()
    return { url in
      let key = self.identity.key(of: url)
      return stored.contains(key) || cache.usesMemory && self.resources.storage.memory.contains(key)
    }
  }

  /// Returns those of the keys that the disk has, after one look-up for all.
  private func storedKeys(among keys: [String]) -> Set<String> {
    let isStored = resources.storage.store.contains(keys)
    return Set(zip(keys, isStored).compactMap { key, isStored in isStored ? key : nil })
  }

  /// Returns the image of a variant from memory, else verified from disk; nil if neither has it.
  @PipelineActor package func cached(
    _ variant: ImageVariant,
    by cache: CachePolicy = .default
  ) async -> FetchedImage? {
    let key = identity.key(of: variant.url)
    guard cache.usesMemory, let image = resources.storage.memory[key] else {
      guard cache.usesDisk else { return nil }
      let sent = identity.adapted(for: variant.url).sent
      return await resources.readFromDisk(key, for: sent, fillsMemory: cache.usesMemory)
    }
    // Record the use; otherwise the disk would evict the images shown most often as the least used ones.
    if cache.usesDisk { resources.storage.uses.note(key) }
    LoadEventReporter.report(.found(.memory))
    var fetched = FetchedImage(image, from: .memory)
    if image.path == nil { fetched.storing = resources.storage.runningStores[key] }
    return fetched
  }

  /// Returns an item with the versions that a view of this size needs; the policy decides among them.
  package func sized(_ item: FeedItem, for request: DecodeRequest?) -> FeedItem {
    guard let size = request?.size else { return item }
    let memory = resources.storage.memory
    memory.dropRemoved()
    // Looked up once, if at all, because most items leave no choice.
    lazy var stored = storedKeys(
      among: (item.sizes + [item.original, item.thumbnail].compactMap(\.self)).map {
        identity.key(of: $0.url)
      }
    )
    return item.sized(for: size) { url in
      let key = identity.key(of: url)
      return memory.contains(key) || stored.contains(key)
    }
  }

  /// Reads the cost of data from services from now on, even if the policy does not depend on it.
  ///
  /// A transfer needs the cost: for the request fields, for the ledger, and to permit a prefetch.
  ///
  /// - Returns: Whether the cost was not read before, so that decisions may now differ.
  @discardableResult
  package func requireCost() -> Bool {
    let (isNews, shared) = (policy.requireCost(), resources.sources.policy)
    // Loaders share the network, so refresh it only if no other loader has needed the cost.
    guard policy === shared ? isNews : shared.requireCost() else { return isNews }
    resources.sources.network.refresh()
    _ = decisionContext()
    return true
  }
}

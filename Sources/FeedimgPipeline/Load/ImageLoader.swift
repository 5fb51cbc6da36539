import FeedimgHTTPCache
@_exported public import FeedimgModel
import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer
import FeedimgUsage

/// Decides which image of an item to show, and loads it.
///
/// One loader serves a whole program; use it from any thread.
public final class ImageLoader: Sendable {
  /// What this loader shares with those that decide otherwise.
  package let resources: LoaderResources
  package let policy: PolicyInForce
  let overrides: [CheckedOverride]
  package let identity: RequestIdentity
  let freshness = FreshnessCache()
  /// The latest facts, reused while they stay the same.
  let snapshotCache: SnapshotCache

  /// Makes a loader; loaders with the same resources share images, transfers and limits.
  ///
  /// The policy and the identity are those of the resources unless others are given.
  package init(
    _ resources: LoaderResources,
    policy: PolicyInForce? = nil,
    overrides: [CheckedOverride] = [],
    identity: RequestIdentity? = nil
  ) {
    (self.resources, self.overrides) = (resources, overrides)
    self.policy = policy ?? resources.sources.policy
    self.identity = identity ?? resources.transport.identity
    snapshotCache = SnapshotCache(overrides: overrides, hostFacts: resources.sources.hostFacts.declared)
  }

  /// Makes a loader that also sends header fields to an origin, and shares everything else with this one.
  ///
  /// - Parameters:
  ///   - fields: The fields; see ``RequestOptions/headers``.
  ///   - origin: See `ImageURL.origin`.
  /// - Returns: The loader, which never shares an image with one that sends other values.
  package func sending(_ fields: HTTPFields, to origin: String) -> ImageLoader {
    let identity = identity.adding(fields, for: origin)
    return ImageLoader(resources, policy: policy, overrides: overrides, identity: identity)
  }

  /// Reduces the work of a loader that is idle.
  ///
  /// The loader stops watching the network and the settings until the next transfer, unless a load waits for
  /// them.
  package func rest() { Task { @PipelineActor [resources] in resources.factMonitor.rest() } }

  /// Warnings for the user about the settings and the policy, such as a refused file.
  ///
  /// Each warning is reported once, as one line.
  public var warnings: [String] {
    resources.sources.settings.takeWarnings() + policy.takeWarnings()
      + resources.sources.hostFacts.takeWarnings()
      + (resources.sources.usage?.takeWarnings() ?? [])
  }

  /// A summary of the service's work for this loader, or why it did none; nil before it was needed.
  public var serviceSummary: String? { resources.transport.service?.summary }

  /// The policy that decides now, its source, and why no other one applies.
  public var policyInForce: PolicyStatus { policy.status() }

  /// Returns the image that a load would choose now, and the reasons.
  ///
  /// The call reads the network, the settings and the index of the cache. It fetches nothing, changes nothing
  /// and never waits for another computer.
  ///
  /// - Parameters:
  ///   - item: The item to decide about.
  ///   - facts: The values of declared facts, by name. A missing fact has its first value. An undeclared one
  ///     is ignored, and is listed in ``warnings``.
  /// - Returns: The decision with its reasons.
  public func resolve(_ item: FeedItem, facts: [String: String] = [:]) -> Resolution {
    resolve([item]) { _ in facts }[0]
  }

  /// Returns the decisions for several items, which share one reading of the network and the cache.
  ///
  /// - Parameters:
  ///   - items: The items to decide about.
  ///   - facts: Returns the values of declared facts for an item; see ``resolve(_:facts:)->Resolution``.
  /// - Returns: A decision for each item, in order.
  public func resolve(
    _ items: [FeedItem],
    facts: (FeedItem) -> [String: String] = { _ in [:] }
  ) -> [Resolution] {
    resolve(items, trustingNetwork: false, facts)
  }

  /// Decides for items; a trusted network counts as connected if it says so, even if all transfers fail.
  ///
  /// Images count as cached where the cache policy reads them.
  func resolve(
    _ items: [FeedItem],
    trustingNetwork: Bool,
    by cache: CachePolicy = .default,
    _ facts: (FeedItem) -> [String: String]
  ) -> [Resolution] {
    let context = decisionContext(trustingNetwork: trustingNetwork)
    let isCached = presence(of: items, context, by: cache)
    return items.map { item in
      context.resolution(of: item, resources.sources.hostFacts.declared(in: facts(item)), isCached: isCached)
    }
  }

  /// Loads the image of an item that the policy chooses: from memory, from disk, or from the network.
  ///
  /// Callers that request the same image share one transfer. Cancelling the task ends only the caller's part;
  /// the transfer stops when its last caller has left.
  ///
  /// If the original fails after the last retry, the load returns the thumbnail, provided the policy permits
  /// it. ``LoadedImage/failure`` then has the reason.
  ///
  /// A cached image returns at once. If it may be stale and the policy permits the request, its server
  /// revalidates it meanwhile; see ``revalidation(of:)``.
  ///
  /// If the item has several sizes, the smallest one loads that `pixels` does not enlarge. The policy still
  /// decides between the sizes of the original and those of the thumbnail.
  ///
  /// - Parameters:
  ///   - item: The item to load.
  ///   - pixels: The size of ``LoadedImage/bitmap`` to decode; needs a decoder in the configuration. If the
  ///     original cannot be decoded, the thumbnail replaces it.
  ///   - facts: See ``resolve(_:facts:)->Resolution``.
  ///   - priority: The priority among all loads.
  ///   - cache: How the load uses memory and disk.
  ///   - policy: The name of the policy that decides about this load; nil for the policy in force.
  ///   - progress: Called as bytes arrive from the network, on the thread of all loads. It must return at
  ///     once, because all loads wait for it.
  /// - Returns: The image with its bytes, its source and the decision.
  /// - Throws: ``LoadError``; `nothingToShow` if only the placeholder is available, `invalidPolicy` for a
  ///   policy that does not exist or is invalid.
  public func load(
    _ item: FeedItem,
    pixels: DecodeRequest? = nil,
    facts: [String: String] = [:],
    priority: LoadPriority = .visible,
    cache: CachePolicy = .default,
    policy: String? = nil,
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(LoadError) -> LoadedImage {
    let item = sized(item, for: pixels)
    var load = ImageLoad(loader: try deciding(by: policy), item: item, facts: facts)
    (load.handle, load.cache) = (LoadHandle(priority), cache)
    if let progress {
      load.listener = { received, _, _ in if received.received.bytes > 0 { progress(received) } }
    }
    load.pixels = { pixels }
    return try await load.run()
  }

  /// Returns a loader that decides by the policy with a name; itself for nil.
  private func deciding(by policy: String?) throws(LoadError) -> ImageLoader {
    guard let policy else { return self }
    do throws(ConfigurationError) {
      return try loader(given: [], policy: policy)
    } catch {
      throw LoadError(.invalidPolicy, message: error.description)
    }
  }

  /// Returns a loader that decides with other facts or another policy, and shares everything else.
  ///
  /// - Parameters:
  ///   - facts: Facts that replace those of the machine or of the shared loader.
  ///   - name: The name of another policy. A path is refused, so that no caller can read files.
  /// - Returns: A new loader; the shared loader itself if nothing is replaced.
  /// - Throws: ``ConfigurationError`` for an invalid fact or policy.
  package func loader(
    given facts: [SituationOverride],
    policy name: String?
  ) throws(ConfigurationError) -> ImageLoader {
    guard !facts.isEmpty || name != nil else { return self }
    let given = try CheckedOverride.check(facts, among: self.policy.catalog.facts)
    var replaced = Set(given.map(\.fact))
    // The cost of one network does not apply to another.
    if replaced.contains(.network) { replaced.insert(.metered) }
    let others = overrides.filter { !replaced.contains($0.fact) }
    let policy =
      if let name {
        try resources.sources.namedPolicies.policy(named: name, on: self.policy.catalog)
      } else {
        self.policy
      }
    if policy !== self.policy, policy.current().needsCost { self.policy.requireCost() }
    return ImageLoader(resources, policy: policy, overrides: others + given, identity: identity)
  }
}

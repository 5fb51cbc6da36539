import FeedimgHTTPCache
package import FeedimgModel
import FeedimgPolicy

/// An image in memory that can be returned at once.
package struct MemoryHit: Sendable {
  package let item: FeedItem
  package let variant: ImageVariant
  package let situation: Situation
  package let decision: Decision
  /// The name of the policy that decided.
  package let policy: String
  package let bytes: [UInt8]
  /// The XXH3 checksum of the bytes.
  package let checksum: UInt64
  package let mediaType: String
  /// How long the image stays fresh, in seconds; nil if that is unknown.
  package let timeLeft: Double?
}

extension ImageLoader {
  /// Returns the image of ``deliver(_:handle:isReload:isForWhole:observer:)`` if memory has it.
  ///
  /// The call waits neither for files nor for servers.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - facts: Returns the current facts, for a caller that shares them among items; nil to read them.
  /// - Returns: Nil if the image needs a file, a request or an observer; then a load is necessary.
  package func lookUpInMemory(_ item: FeedItem, by facts: (() -> DecisionContext)? = nil) -> MemoryHit? {
    guard resources.loads.observers.isEmpty else { return nil }
    let found = (original: inMemory(item.original), thumbnail: inMemory(item.thumbnail))
    guard found.original != nil || found.thumbnail != nil else { return nil }
    let context = facts?() ?? decisionContext()
    let situation = context.situation(of: item, [:]) { url in
      url == item.original?.url ? found.original != nil : found.thumbnail != nil
    }
    let decision = context.policy.decide(situation)
    // The disk may have images that memory lacks. It is not read if that makes no difference.
    guard decision.load == nil, let role = decision.image.role, let variant = item[role],
      let image = role == .original ? found.original : found.thumbnail,
      context.policy.decide(context.situation(of: item, [:]) { _ in true }) == decision
    else { return nil }
    let key = self.identity.key(of: variant.url)
    let identity = identity.adapted(to: situation, for: variant.url)
    let verdict = image.response.map { freshness.verdict(key, $0, by: identity, at: resources.clock()) }
    // A revalidation that ended a moment ago is not repeated.
    if let verdict, verdict.revalidation != .none,
      !resources.transport.retries.isRevalidationPaused(identity.shared(key))
    {
      return nil
    }
    resources.storage.uses.note(key)
    return MemoryHit(
      item: item,
      variant: variant,
      situation: situation,
      decision: decision,
      policy: context.policy.name,
      bytes: image.bytes,
      checksum: image.checksum,
      mediaType: image.mediaType,
      timeLeft: verdict?.left
    )
  }

  private func inMemory(_ variant: ImageVariant?) -> MemoryCache.Image? {
    variant.flatMap { resources.storage.memory[identity.key(of: $0.url)] }
  }
}

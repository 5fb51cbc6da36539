import FeedimgCache
package import FeedimgModel
import FeedimgPolicy

/// An image that needs nothing but to be handed over.
package struct ImageAtHand: Sendable {
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
  /// For how long it stays fresh, in seconds; nil where nothing is known of that.
  package let timeLeft: Double?
  /// What ``ImageLoader/keep(_:cost:of:)`` has kept of it.
  package let copy: (any AnyObject & Sendable)?
}

extension ImageLoader {
  /// The image that ``deliver(_:priority:isReload:isForWhole:observer:)`` would return, if memory has it; waits neither for files nor for servers.
  ///
  /// - Parameter item: What to decide about.
  /// - Returns: Nil where anything is to be read, asked or told besides: that takes a load.
  package func atHand(_ item: FeedItem) -> ImageAtHand? {
    guard observers.isEmpty else { return nil }
    let found = (original: inMemory(item.original), thumbnail: inMemory(item.thumbnail))
    guard found.original != nil || found.thumbnail != nil else { return nil }
    let (reader, policy) = look()
    let isLocal = reader.isLocal(item)
    func seen(others presence: Presence) -> Situation {
      reader.situation(
        original: item.original == nil ? .none : found.original == nil ? presence : .cached,
        thumbnail: item.thumbnail == nil ? .none : found.thumbnail == nil ? presence : .cached,
        size: item.original?.size,
        isLocal: isLocal
      )
    }
    let situation = seen(others: .remote)
    let decision = policy.decide(situation)
    // What memory lacks may be on disk: the disk need not be asked where that makes no difference.
    guard decision.load == nil, let role = decision.image.role, let variant = item[role],
      let (image, copy) = role == .original ? found.original : found.thumbnail,
      policy.decide(seen(others: .cached)) == decision
    else { return nil }
    let identity = identity.asking(in: situation)
    let verdict = image.response.map { freshness.verdict(variant.url.key, $0, by: identity, at: clock()) }
    // Whose server was asked a moment ago is not asked now.
    if let verdict, verdict.asking != .none,
      !revalidator.isResting(identity.shared(variant.url.key))
    {
      return nil
    }
    uses.note(variant.url.key)
    return ImageAtHand(
      item: item,
      variant: variant,
      situation: situation,
      decision: decision,
      policy: policy.name,
      bytes: image.bytes,
      checksum: image.checksum,
      mediaType: image.mediaType,
      timeLeft: verdict?.left,
      copy: copy
    )
  }

  /// Keeps a copy of an image in another form, for as long as memory has the image.
  ///
  /// - Parameters:
  ///   - copy: Has all its bytes.
  ///   - cost: What it takes, in bytes, which counts as what the image itself takes.
  ///   - image: Given by this loader.
  /// - Returns: Whether it is kept; see ``MemoryCache/keep(_:cost:of:for:)``.
  package func keep(_ copy: any AnyObject & Sendable, cost: Int, of image: ImageAtHand) -> Bool {
    memory.keep(copy, cost: cost, of: image.bytes, for: image.variant.url.key)
  }

  /// How many copies are kept, and what they take.
  package var copies: (count: Int, size: ByteCount) { memory.copies }

  private func inMemory(_ variant: ImageVariant?) -> (MemoryCache.Image, (any AnyObject & Sendable)?)? {
    variant.flatMap { memory.withCopy($0.url.key) }.map { ($0.image, $0.copy) }
  }
}

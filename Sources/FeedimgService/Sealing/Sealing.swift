import Feedimg
import Synchronization

/// Makes sealed copies of large images that clients request repeatedly.
///
/// The memory cache of the loader keeps the copies, within its budget and at most as long as the images.
final class Sealing: Sendable {
  /// The longest image to copy, in bytes; a longer copy would delay other clients.
  private static let maximumLength = 8 << 20
  /// With fewer descriptors, all of them are for connections and downloads.
  private static let fewestDescriptors = 1024

  private let isAllowed: Bool
  /// Guards the number of requests; no body is copied inside.
  private let demand = Mutex(SealingDemand())

  /// - Parameter descriptors: The limit of open descriptors of the process.
  init(descriptors: Int) { isAllowed = descriptors >= Self.fewestDescriptors && SealedBody.canBeSent() }

  /// The sealed copy of an image in memory that is about to be sent; nil where none is due or possible.
  func copy(of image: MemoryHit, in loader: ImageLoader) -> SealedBody? {
    if let copy = image.copy { return copy as? SealedBody }
    guard isAllowed, (SealedBody.minimumLength...Self.maximumLength).contains(image.bytes.count),
      demand.withLock({ $0.noteRequest(image.variant.url.key) }), let body = SealedBody(image.bytes),
      loader.keep(body, cost: body.cost, of: image)
    else { return nil }
    return body
  }
}

/// The bodies that are requested so often that a copy pays (pure).
///
/// A copy takes as long as some three responses save by it. The second request for a body makes its copy. Each copy that
/// is lost doubles the number of requests before the next one, so that copies that cannot be kept cost little.
struct SealingDemand {
  private struct Count {
    var requests = 0
    var needed = 2
  }

  /// More bodies than the cache keeps copies of.
  private static let maximumCount = 512
  private static let maximumNeed = 256

  private var counts: [String: Count] = [:]

  /// Counts a request for a body without a copy.
  ///
  /// - Returns: Whether to make the copy.
  mutating func noteRequest(_ key: String) -> Bool {
    if counts.count >= Self.maximumCount, counts[key] == nil { counts.removeAll() }
    var count = counts[key] ?? Count()
    count.requests += 1
    let isDue = count.requests >= count.needed
    if isDue { count = Count(needed: min(2 * count.needed, Self.maximumNeed)) }
    counts[key] = count
    return isDue
  }
}

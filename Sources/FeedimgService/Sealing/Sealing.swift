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

  /// More bodies than the cache keeps copies of.
  private static let maximumCount = 512

  private let isAllowed: Bool
  /// The keys of bodies with one request since their last copy; no body is copied inside.
  private let requested = Mutex<Set<String>>([])

  /// - Parameter descriptors: The limit of open descriptors of the process.
  init(descriptors: Int) { isAllowed = descriptors >= Self.fewestDescriptors && SealedBody.canBeSent() }

  /// The sealed copy of an image in memory that is about to be sent; nil where none is due or possible.
  func copy(of image: MemoryHit, in loader: ImageLoader) -> SealedBody? {
    if let copy = image.copy { return copy as? SealedBody }
    guard isAllowed, (SealedBody.minimumLength...Self.maximumLength).contains(image.bytes.count),
      isRepeated(image.variant.url.key), let body = SealedBody(image.bytes),
      loader.keep(body, cost: body.cost, of: image)
    else { return nil }
    return body
  }

  /// Notes a request for a body without a copy; true for every second one, since a copy takes as long as three responses
  /// save by it.
  private func isRepeated(_ key: String) -> Bool {
    requested.withLock { requested in
      if requested.remove(key) != nil { return true }
      if requested.count >= Self.maximumCount { requested.removeAll() }
      requested.insert(key)
      return false
    }
  }
}

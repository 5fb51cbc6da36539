package import FeedimgModel
import Synchronization

/// Keeps encoded images in memory, within a budget of bytes; those shown once give way before those shown again.
///
/// For any thread. What it lets go of is freed outside of its lock.
package final class MemoryCache: Sendable {
  /// An encoded image.
  package struct Image: Sendable, Hashable {
    package var role: ImageVariant.Role
    package var mediaType: String
    package var bytes: [UInt8]
    /// The file in the disk cache, if it was kept there.
    package var path: String?
    /// What brought it, for its freshness; nil where that is not known.
    package var answer: StoredAnswer?

    package init(
      role: ImageVariant.Role,
      mediaType: String,
      bytes: [UInt8],
      path: String?,
      answer: StoredAnswer? = nil
    ) {
      self.role = role
      self.mediaType = mediaType
      self.bytes = bytes
      self.path = path
      self.answer = answer
    }
  }

  /// What an entry costs beside its bytes: key, record and order, estimated.
  static let overhead = 512

  private let store: Mutex<BoundedStore<Image>>

  package init(limit: ByteCount) { store = Mutex(BoundedStore(limit: limit)) }

  /// The image of a key, which thereby counts as used.
  package subscript(key: String) -> Image? { store.withLock { $0.use(key) } }

  /// What is kept, in bytes; never over the limit.
  package var size: ByteCount { store.withLock { ByteCount($0.cost) } }

  package var count: Int { store.withLock { $0.count } }

  /// Keeps an image in place of an earlier one of its key, unless it would take more than a quarter of the budget.
  package func insert(_ image: Image, for key: String) {
    _ = store.withLock { $0.insert(image, for: key, cost: image.bytes.count + Self.overhead) }
  }

  package func remove(_ key: String) {
    _ = store.withLock { $0.remove(key) }
  }

  /// Removes images until no more than so many bytes are left.
  package func shrink(to size: ByteCount) {
    _ = store.withLock { $0.shrink(to: size.bytes) }
  }

  /// Changes the budget; what exceeds it goes at once.
  package func setLimit(_ limit: ByteCount) {
    _ = store.withLock { $0.setLimit(limit) }
  }
}

import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// Emptying the cache and ending loads.
extension ImageLoader {
  /// Removes all images from the memory of this loader; the disk keeps them.
  ///
  /// Views keep what they show.
  public func clearMemory() { resources.memory.removeAll() }

  /// Removes all images from the disk, including pinned ones, and from the memory of all programs that share it.
  ///
  /// Images that are being loaded are returned to their callers and not kept. Views keep what they show.
  ///
  /// - Throws: ``ConfigurationError`` if a file cannot be removed. All others are removed.
  public func clearCache() async throws(ConfigurationError) {
    let failure = await resources.writes.run { [store = resources.store] () -> CacheError? in
      do throws(CacheError) {
        try store.clear()
        return nil
      } catch {
        return error
      }
    }
    clearMemory()
    if let failure { throw ConfigurationError([failure.message], isSystemFailure: true) }
  }

  /// Cancels all running loads and revalidations of this loader, which then throw `cancelled`.
  ///
  /// Interrupted downloads keep their bytes, so that later loads resume them. A ``Prefetch`` continues with its next
  /// image, and a slot loads again when its facts change or it is shown again.
  public func cancelLoads() {
    resources.coalescer.cancel()
    resources.revalidator.coalescer.cancel()
  }
}

import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// Emptying the cache, freeing memory and ending loads.
extension ImageLoader {
  /// Removes all images from the memory of this loader; the disk keeps them.
  ///
  /// Views keep what they show.
  public func clearMemory() { resources.storage.memory.removeAll() }

  /// Removes all images from the disk, including pinned ones, and from the memory of all programs that share it.
  ///
  /// Images that are being loaded are returned to their callers and not kept. Views keep what they show.
  ///
  /// - Throws: ``ConfigurationError`` if a file cannot be removed. All others are removed.
  public func clearCache() async throws(ConfigurationError) {
    let failure = await resources.storage.writes.run { [store = resources.storage.store] in
      Result { () throws(CacheError) -> Void in try store.clear() }.failure
    }
    clearMemory()
    if let failure { throw ConfigurationError([failure.message], isSystemFailure: true) }
  }

  /// Frees memory on a warning of the program's toolkit, in the steps of memory pressure.
  ///
  /// The loader also watches the system's memory itself, and takes the higher of both steps. Images that
  /// views hold stay. The step lasts until the next call. If the toolkit does not report the end of a
  /// shortage, call it again at once with `nothing`: what was freed stays freed.
  ///
  /// - Parameter step: What to give up; `nothing` permits everything again.
  public func trimMemory(_ step: MemoryStep) { resources.storage.pressure.request(step) }

  /// Cancels all running loads and revalidations of this loader, which then throw `cancelled`.
  ///
  /// Interrupted downloads keep their bytes, so that later loads resume them. A ``Prefetch`` continues with its next
  /// image, and a slot loads again when its facts change or it is shown again.
  public func cancelLoads() {
    resources.loads.coalescer.cancel()
    resources.loads.revalidator.coalescer.cancel()
  }
}

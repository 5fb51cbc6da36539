import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

extension ImageLoader {
  /// Returns the image of a variant from memory, else verified from disk; nil if neither has it.
  @PipelineActor package func cached(
    _ variant: ImageVariant,
    by cache: CachePolicy = .default
  ) async -> FetchedImage? {
    let key = identity.key(of: variant.url)
    guard cache.usesMemory, let image = resources.memory[key] else {
      return cache.usesDisk ? await stored(variant, fillsMemory: cache.usesMemory) : nil
    }
    // Record the use; otherwise the disk would evict the images shown most often as the least used ones.
    if cache.usesDisk { resources.uses.note(key) }
    LoadEventReporter.report(.found(.memory))
    var fetched = FetchedImage(image, from: .memory)
    if image.path == nil { fetched.storing = resources.stores[key] }
    return fetched
  }

  /// Reads the image of a variant from disk, and adds it to memory.
  @PipelineActor func stored(
    _ variant: ImageVariant,
    fillsMemory: Bool = true
  ) async -> FetchedImage? {
    let (key, sent) = (identity.key(of: variant.url), identity.adapted(for: variant.url).sent)
    let image = await resources.disk.run { [resources] in
      let (memory, store) = (resources.memory, resources.store)
      let read = { store.read(key, for: sent).map(MemoryCache.Image.init) }
      return fillsMemory ? memory.fill(key, from: read) : read()
    }
    LoadEventReporter.report(image == nil ? .missed : .found(.disk))
    return image.map { FetchedImage($0, from: .disk) }
  }
}

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
    guard cache.usesMemory, let image = resources.storage.memory[key] else {
      guard cache.usesDisk else { return nil }
      let sent = identity.adapted(for: variant.url).sent
      return await resources.stored(key, for: sent, fillsMemory: cache.usesMemory)
    }
    // Record the use; otherwise the disk would evict the images shown most often as the least used ones.
    if cache.usesDisk { resources.storage.uses.note(key) }
    LoadEventReporter.report(.found(.memory))
    var fetched = FetchedImage(image, from: .memory)
    if image.path == nil { fetched.storing = resources.storage.stores[key] }
    return fetched
  }
}

extension LoaderResources {
  /// Reads an image from disk, and adds it to memory.
  ///
  /// - Parameters:
  ///   - key: The key of the image in the cache.
  ///   - sent: The request fields of the program; the image must suit those that `Vary` names.
  ///   - fillsMemory: Whether memory keeps the image.
  /// - Returns: The image; nil if the disk has none.
  @PipelineActor func stored(
    _ key: String,
    for sent: HTTPFields,
    fillsMemory: Bool = true
  ) async -> FetchedImage? {
    let image = await storage.disk.run { [memory = storage.memory, store = storage.store] in
      let read = { store.read(key, for: sent).map(MemoryCache.Image.init) }
      return fillsMemory ? memory.fill(key, from: read) : read()
    }
    LoadEventReporter.report(image == nil ? .missed : .found(.disk))
    return image.map { FetchedImage($0, from: .disk) }
  }
}

import FeedimgCache
import FeedimgModel

extension ImageLoader {
  /// The image of a variant from memory, else from disk, verified; nil where neither has it.
  func cached(_ variant: ImageVariant) -> FetchedImage? {
    let key = variant.url.key
    if let image = memory[key] {
      // Else the disk would think that what is shown most is used least.
      store.noteUse(of: key, for: identity.sent, times: 1)
      LoadWitness.tell(.found(.memory))
      return FetchedImage(image, from: .memory)
    }
    return stored(variant)
  }

  /// The image of a variant from disk, taken into memory.
  func stored(_ variant: ImageVariant) -> FetchedImage? {
    guard let (stored, bytes) = store.read(variant.url.key, for: identity.sent) else {
      LoadWitness.tell(.missed)
      return nil
    }
    LoadWitness.tell(.found(.disk))
    let image = MemoryCache.Image(
      role: stored.role,
      mediaType: stored.mediaType,
      bytes: bytes,
      checksum: stored.checksum,
      path: stored.path,
      answer: stored.answer
    )
    // Who is no longer wanted takes nobody's place in memory.
    if !Task.isCancelled { memory.insert(image, for: variant.url.key) }
    return FetchedImage(image, from: .disk)
  }
}

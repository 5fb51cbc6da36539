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
    let key = variant.url.key
    // Who is no longer wanted takes nobody's place in memory.
    let image = memory.fill(
      key,
      ifWanted: { !Task.isCancelled },
      from: { store.read(key, for: identity.sent).map(MemoryCache.Image.init) }
    )
    LoadWitness.tell(image == nil ? .missed : .found(.disk))
    return image.map { FetchedImage($0, from: .disk) }
  }
}

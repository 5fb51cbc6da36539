import FeedimgCache
import FeedimgModel
import FeedimgSystem
import Synchronization

extension ImageLoader {
  /// The image of a variant from memory, else from disk, verified; nil where neither has it.
  @PipelineActor package func cached(_ variant: ImageVariant) async -> FetchedImage? {
    let key = variant.url.key
    guard let image = memory[key] else { return await stored(variant) }
    // Otherwise the disk would take what is shown most for what is used least.
    uses.note(key)
    LoadWitness.tell(.found(.memory))
    var fetched = FetchedImage(image, from: .memory)
    if image.path == nil { fetched.storing = stores[key] }
    return fetched
  }

  /// The image of a variant from disk, taken into memory unless the task is cancelled meanwhile.
  @PipelineActor func stored(_ variant: ImageVariant) async -> FetchedImage? {
    let (key, wanted) = (variant.url.key, Wanted())
    let image = await withTaskCancellationHandler {
      await disk.run { [memory, store, identity] in
        memory.fill(
          key,
          ifWanted: { wanted.value },
          from: { store.read(key, for: identity.sent).map(MemoryCache.Image.init) }
        )
      }
    } onCancel: {
      wanted.value = false
    }
    LoadWitness.tell(image == nil ? .missed : .found(.disk))
    return image.map { FetchedImage($0, from: .disk) }
  }
}

/// Whether a caller still wants what is read for it.
private final class Wanted: Sendable {
  private let flag = Atomic(true)

  var value: Bool {
    get { flag.load(ordering: .acquiring) }
    set { flag.store(newValue, ordering: .releasing) }
  }
}

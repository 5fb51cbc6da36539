import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Synchronization

extension ImageLoader {
  /// Returns the image of a variant from memory, else verified from disk; nil if neither has it.
  @PipelineActor package func cached(_ variant: ImageVariant) async -> FetchedImage? {
    let key = variant.url.key
    guard let image = memory[key] else { return await stored(variant) }
    // Record the use; otherwise the disk would evict the images shown most often as the least used ones.
    uses.note(key)
    LoadEventReporter.report(.found(.memory))
    var fetched = FetchedImage(image, from: .memory)
    if image.path == nil { fetched.storing = stores[key] }
    return fetched
  }

  /// Reads the image of a variant from disk, and adds it to memory unless the task is cancelled.
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
    LoadEventReporter.report(image == nil ? .missed : .found(.disk))
    return image.map { FetchedImage($0, from: .disk) }
  }
}

/// Whether a caller still wants the image.
private final class Wanted: Sendable {
  private let flag = Atomic(true)

  var value: Bool {
    get { flag.load(ordering: .acquiring) }
    set { flag.store(newValue, ordering: .releasing) }
  }
}

import FeedimgModel
import FeedimgSystem

/// The images that callers have and that are still being stored, by key.
@PipelineActor final class StoresInFlight {
  /// The most stores that may run before images of slots are no longer stored.
  nonisolated static let maximumCount = 256
  /// The most bytes of their images.
  nonisolated static let maximumSize = ByteCount.mebibytes(32)

  private var promises: [String: Promise<FetchedImage>] = [:]
  private var (count, size) = (0, 0)

  nonisolated init() {}

  /// The store that runs for a key; nil if none does.
  subscript(key: String) -> Promise<FetchedImage>? { promises[key] }

  /// Whether another image may wait for the disk.
  var hasRoom: Bool { count < Self.maximumCount && size < Self.maximumSize.bytes }

  /// Starts to store an image; no cancellation stops it.
  ///
  /// - Returns: A promise of the image with its file.
  func begin(
    _ key: String,
    size: Int,
    _ store: @escaping @PipelineActor @Sendable () async -> FetchedImage
  ) -> Promise<FetchedImage> {
    let promise = Promise<FetchedImage>()
    promises[key] = promise
    (count, self.size) = (count + 1, self.size + size)
    PipelineActor.task { [self] in
      promise.resolve(await store())
      (count, self.size) = (count - 1, self.size - size)
      if promises[key] === promise { promises[key] = nil }
    }
    return promise
  }
}

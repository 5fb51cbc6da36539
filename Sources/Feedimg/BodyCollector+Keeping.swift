import FeedimgModel
import Synchronization

/// What is done with the file of a body.
extension BodyCollector {
  /// Has something done to what is written; whatever is in its way is noted, and never fails the load.
  func keeping(_ work: (any ImageWriting) throws(CacheError) -> Void) {
    guard let writer = state.withLock({ $0.writer }) else { return }
    do throws(CacheError) {
      try work(writer)
    } catch {
      giveUp(writer, error)
    }
  }

  /// Makes the image visible in the cache; nil where it is not kept.
  func commit(_ metadata: ImageMetadata) async -> StoredImage? {
    guard let writer = state.withLock({ $0.writer }) else { return nil }
    do throws(CacheError) {
      return try await writer.commit(metadata, transfer.loader.disk.afterwards)
    } catch {
      giveUp(writer, error)
      return nil
    }
  }

  private func giveUp(_ writer: any ImageWriting, _ error: CacheError) {
    writer.discard()
    state.withLock { $0.obstacle = "not kept: \(error)" }
  }
}

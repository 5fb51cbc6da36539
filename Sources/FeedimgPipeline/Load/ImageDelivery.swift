import FeedimgHTTPCache
package import FeedimgModel
import FeedimgSystem

/// An image that readers can read while it arrives.
package struct StreamingImage: Sendable {
  package let variant: ImageVariant
  package let resolution: Resolution
  package let response: StreamingResponse
  /// The reason why this is not the variant that the policy chose; nil if it is.
  package let note: String?

  init(_ variant: ImageVariant, _ resolution: Resolution, _ response: StreamingResponse, note: String?) {
    (self.variant, self.resolution, self.response, self.note) = (variant, resolution, response, note)
  }
}

/// An image for a caller that passes it on, either complete or still arriving.
package enum ImageDelivery: Sendable {
  case whole(LoadedImage)
  /// The image is still arriving; `leave` releases this caller from the load when its readers are gone.
  case arriving(StreamingImage, leave: @Sendable () -> Void)
}

extension ImageLoader {
  /// Loads an image, and returns early when a long image begins to arrive.
  ///
  /// It otherwise works like ``load(_:facts:priority:progress:)`` or ``reload(_:facts:progress:)``.
  ///
  /// - Parameters:
  ///   - item: The item to load.
  ///   - handle: The priority, which may change until the complete image has arrived.
  ///   - isReload: Whether to revalidate a cached image first.
  ///   - isForWhole: Whether the caller needs the complete image.
  ///   - observer: Receives the steps of this load.
  /// - Returns: The complete image, or one that is arriving. If its body is interrupted, the load has failed.
  /// - Throws: ``LoadError`` if the load fails before the image begins to arrive.
  package func deliver(
    _ item: FeedItem,
    handle: LoadHandle,
    isReload: Bool,
    isForWhole: Bool = false,
    observer: (any LoadObserving)? = nil
  ) async throws(LoadError) -> ImageDelivery {
    var begun = ImageLoad(loader: self, item: item, facts: [:])
    (begun.handle, begun.cache, begun.observer) = (handle, isReload ? .reload : .default, observer)
    let operation = begun
    // An image in memory needs no transfer.
    let isInMemory = [item.original, item.thumbnail].contains {
      $0.map { memory[identity.key(of: $0.url)] != nil } ?? false
    }
    if isForWhole || isInMemory {
      return .whole(try await operation.run())
    }
    let (first, leave) = await Promise<Result<Beginning, LoadError>>.of { promise in
      var operation = operation
      operation.onArrival = { image in
        if image.isLong { promise.resolve(.success(.arriving(image))) }
      }
      operation.isDelivered = { promise.current != nil }
      do throws(LoadError) {
        promise.resolve(.success(.whole(try await operation.run())))
      } catch {
        promise.resolve(.failure(error))
      }
    }
    switch try first.get() {
    case .whole(let image): return .whole(image)
    case .arriving(let image): return .arriving(image, leave: leave)
    }
  }

  private enum Beginning: Sendable {
    case whole(LoadedImage)
    case arriving(StreamingImage)
  }
}

extension StreamingImage {
  /// The length up to which an image is delivered complete, and can get an entity tag from its content.
  private static let shortLength = 64 << 10

  fileprivate var isLong: Bool { response.response.head.contentLength ?? .max > Self.shortLength }
}

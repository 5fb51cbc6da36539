import FeedimgCache
package import FeedimgModel

/// An image that others may have while it comes.
package struct ArrivingImage: Sendable {
  package let variant: ImageVariant
  package let resolution: Resolution
  package let arrival: Arrival
}

/// An image for who hands it on: whole, or as it comes.
package enum ImageDelivery: Sendable {
  case whole(LoadedImage)
  /// With what ends the load for this one who waits, as nobody takes the image any more.
  case arriving(ArrivingImage, leave: @Sendable () -> Void)
}

extension ImageLoader {
  /// Loads an image as ``load(_:facts:priority:progress:)`` or ``reload(_:facts:progress:)`` does, but returns as soon as a
  /// long one begins to come.
  ///
  /// - Parameters:
  ///   - item: What to load.
  ///   - priority: How urgent it is beside other loads.
  ///   - isReload: Whether to ask the server about what is cached first.
  /// - Returns: The image, or its beginning. A body that breaks off has failed as the load has.
  /// - Throws: ``LoadError`` where it fails before it begins.
  package func deliver(
    _ item: FeedItem,
    priority: LoadPriority,
    isReload: Bool
  ) async throws(LoadError) -> ImageDelivery {
    // What is in memory comes at once.
    if [item.original, item.thumbnail].contains(where: { $0.map { memory[$0.url.key] != nil } ?? false }) {
      return .whole(isReload ? try await reload(item) : try await load(item, priority: priority))
    }
    let (first, leave) = await Opening<Result<Beginning, LoadError>>.of { opening in
      var operation = LoadOperation(loader: self, item: item, facts: [:], progress: nil, isReload: isReload)
      operation.wish = LoadWish(priority)
      operation.arrival = { image in
        if image.isLong { opening.settle(.success(.arriving(image))) }
      }
      do throws(LoadError) {
        opening.settle(.success(.whole(try await self.perform(operation))))
      } catch {
        opening.settle(.failure(error))
      }
    }
    switch try first.get() {
    case .whole(let image): return .whole(image)
    case .arriving(let image): return .arriving(image, leave: leave)
    }
  }

  private enum Beginning: Sendable {
    case whole(LoadedImage)
    case arriving(ArrivingImage)
  }
}

extension ArrivingImage {
  /// What is shorter comes at once, and can be named by its content.
  private static let shortLength = 64 << 10

  fileprivate var isLong: Bool { arrival.answer.head.contentLength ?? .max > Self.shortLength }
}

import FeedimgCache
package import FeedimgModel

/// An image that others may have while it comes.
package struct ArrivingImage: Sendable {
  package let variant: ImageVariant
  package let resolution: Resolution
  package let response: StreamingResponse
  /// Why it is not what was decided; nil where it is.
  package let note: String?

  init(_ variant: ImageVariant, _ resolution: Resolution, _ response: StreamingResponse, note: String?) {
    (self.variant, self.resolution, self.response, self.note) = (variant, resolution, response, note)
  }
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
  ///   - handle: Its priority, which may change until the whole image is there.
  ///   - isReload: Whether to ask the server about what is cached first.
  ///   - isForWhole: Whether only the whole image is of use.
  ///   - observer: Hears of the steps of this load.
  /// - Returns: The image, or its beginning. A body that breaks off has failed as the load has.
  /// - Throws: ``LoadError`` where it fails before it begins.
  package func deliver(
    _ item: FeedItem,
    handle: LoadHandle,
    isReload: Bool,
    isForWhole: Bool = false,
    observer: (any LoadObserving)? = nil
  ) async throws(LoadError) -> ImageDelivery {
    var begun = ImageLoad(loader: self, item: item, facts: [:])
    (begun.handle, begun.isReload, begun.observer) = (handle, isReload, observer)
    let operation = begun
    // What is in memory comes at once.
    let isInMemory = [item.original, item.thumbnail].contains {
      $0.map { memory[$0.url.key] != nil } ?? false
    }
    if isForWhole || isInMemory {
      return .whole(try await operation.run())
    }
    let (first, leave) = await Opening<Result<Beginning, LoadError>>.of { opening in
      var operation = operation
      operation.onArrival = { image in
        if image.isLong { opening.settle(.success(.arriving(image))) }
      }
      operation.isHandedOn = { opening.isSettled }
      do throws(LoadError) {
        opening.settle(.success(.whole(try await operation.run())))
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

  fileprivate var isLong: Bool { response.response.head.contentLength ?? .max > Self.shortLength }
}

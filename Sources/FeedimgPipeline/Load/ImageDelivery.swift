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
  /// If the caller needs the complete image, `isForWhole` is true. If the body of an arriving image is
  /// interrupted, the load has failed.
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
    guard !isForWhole else { return .whole(try await operation.run()) }
    let (first, leave) = await Promise<Result<ImageDelivery, LoadError>>.of { promise in
      var operation = operation
      operation.reader = ImageLoad.Reader(
        onResponse: { image in
          if image.isLong { promise.resolve(.success(.arriving(image, leave: {}))) }
        },
        hasBytes: { promise.current != nil }
      )
      do throws(LoadError) {
        promise.resolve(.success(.whole(try await operation.run())))
      } catch {
        promise.resolve(.failure(error))
      }
    }
    let delivery = try first.get()
    guard case .arriving(let image, _) = delivery else { return delivery }
    return .arriving(image, leave: leave)
  }
}

extension ImageLoader {
  /// Waits until the store of an image that was loaded has ended; returns at once if none is running.
  @PipelineActor package func finishStore(of url: ImageURL) async {
    _ = await resources.storage.runningStores[identity.key(of: url)]?.value()
  }
}

extension StreamingImage {
  /// The length up to which an image is delivered complete, and can get an entity tag from its content.
  private static let shortLength = 64 << 10

  fileprivate var isLong: Bool { response.response.head.contentLength ?? .max > Self.shortLength }
}

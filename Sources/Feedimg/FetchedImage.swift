import FeedimgCache
import FeedimgModel

/// The bytes of an image that one load brought, for all who waited for it.
struct FetchedImage: Sendable {
  var bytes: [UInt8]
  var mediaType: String
  var path: String?
  var source: LoadedImage.Source
  var notes: [String] = []
}

extension FetchedImage {
  init(_ image: MemoryCache.Image, from source: LoadedImage.Source) {
    self.init(bytes: image.bytes, mediaType: image.mediaType, path: image.path, source: source)
  }

  /// What memory keeps of it.
  func kept(as role: ImageVariant.Role) -> MemoryCache.Image {
    MemoryCache.Image(role: role, mediaType: mediaType, bytes: bytes, path: path)
  }
}

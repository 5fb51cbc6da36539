package import FeedimgCache
import FeedimgModel

/// The bytes of an image that one load brought, for all its callers.
struct FetchedImage: Sendable {
  var bytes: [UInt8]
  /// Of the bytes, where the disk cache has made it.
  var checksum: UInt64?
  var mediaType: String
  var path: String?
  var source: LoadedImage.Source
  /// What brought it once, for its freshness; nil where that is not known.
  var response: StoredResponse?
  /// The ``ImageRevalidation/key`` of what showing it has started; nil where it has started none.
  var revalidation: String?
  var notes: [String] = []
}

extension FetchedImage {
  init(_ image: MemoryCache.Image, from source: LoadedImage.Source) {
    self.init(
      bytes: image.bytes,
      checksum: image.checksum,
      mediaType: image.mediaType,
      path: image.path,
      source: source,
      response: image.response
    )
  }

  /// What memory keeps of it.
  func kept(as role: ImageVariant.Role) -> MemoryCache.Image {
    MemoryCache.Image(
      role: role,
      mediaType: mediaType,
      bytes: bytes,
      checksum: checksum,
      path: path,
      response: response
    )
  }

  /// The same with another note.
  func noting(_ note: String) -> FetchedImage {
    var image = self
    image.notes.append(note)
    return image
  }

  /// Whether a program that sends this may have it: an image that was made smaller to save data serves no other.
  func suits(_ identity: RequestIdentity) -> Bool {
    identity.savesData || response?.varied["Save-Data"] == nil
  }

  /// Whether it may be out of date.
  func freshness(at now: Double) -> ImageFreshness? {
    guard let response else { return nil }
    var freshness = ImageFreshness(Freshness(of: response, at: now))
    freshness.isRevalidating = revalidation != nil
    return freshness
  }
}

extension ImageFreshness {
  package init(_ freshness: Freshness) {
    self.init(
      isFresh: freshness.standing == .fresh,
      state: freshness.standing.rawValue,
      rule: freshness.reason,
      age: freshness.age,
      left: freshness.left
    )
  }
}

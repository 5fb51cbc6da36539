package import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// The bytes of an image that one load fetched, for all its callers.
package struct FetchedImage: Sendable {
  var bytes: [UInt8]
  /// The checksum of the bytes, if the disk cache has computed it.
  var checksum: UInt64?
  var mediaType: String
  var path: String?
  var source: LoadedImage.Source
  /// The stored response, which tells the freshness; nil if it is unknown.
  var response: StoredResponse?
  /// The ``RevalidationRequest/loadKey`` of the revalidation that showing the image started; nil for none.
  var revalidation: String?
  var notes: [String] = []
  /// The store that runs, for an image that callers may show before; it returns the image with its file.
  var storing: Promise<FetchedImage>?
}

extension FetchedImage {
  package init(_ image: MemoryCache.Image, from source: LoadedImage.Source) {
    self.init(
      bytes: image.bytes,
      checksum: image.checksum,
      mediaType: image.mediaType,
      path: image.path,
      source: source,
      response: image.response
    )
  }

  /// Returns the image in the form that memory keeps.
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

  /// A loaded image with the file of this one, once the store has finished.
  ///
  /// - Throws: `cancelled` alone.
  func addingFile(to image: LoadedImage) async throws(LoadError) -> LoadedImage {
    guard let storing else { return image }
    guard let stored = await storing.value() else {
      throw LoadError(.cancelled, url: image.variant.url, message: "the load was cancelled")
    }
    var image = image
    image.path = stored.path
    image.notes = stored.notes + image.notes
    return image
  }

  func adding(note: String) -> FetchedImage {
    var image = self
    image.notes.append(note)
    return image
  }

  /// Returns whether a program with these request fields may use the image.
  ///
  /// An image that was reduced to save data is only for programs that save data.
  func suits(_ identity: RequestIdentity) -> Bool {
    identity.savesData || response?.varied["Save-Data"] == nil
  }

  /// Returns the freshness of the image; nil if it is unknown.
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
      isFresh: freshness.state == .fresh,
      state: freshness.state.rawValue,
      rule: freshness.reason,
      age: freshness.age,
      left: freshness.left
    )
  }
}

extension LoaderResources {
  /// Reads an image from disk, and adds it to memory.
  ///
  /// - Parameters:
  ///   - key: The key of the image in the cache.
  ///   - sent: The request fields of the program; the image must suit those that `Vary` names.
  ///   - fillsMemory: Whether memory keeps the image.
  /// - Returns: The image; nil if the disk has none.
  @PipelineActor func readFromDisk(
    _ key: String,
    for sent: HTTPFields,
    fillsMemory: Bool = true
  ) async -> FetchedImage? {
    let image = await storage.reads.run { [memory = storage.memory, store = storage.store] in
      let read = { store.read(key, for: sent).map(MemoryCache.Image.init) }
      return fillsMemory ? memory.fill(key, from: read) : read()
    }
    LoadEventReporter.report(image == nil ? .missed : .found(.disk))
    return image.map { FetchedImage($0, from: .disk) }
  }
}

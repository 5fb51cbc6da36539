import FeedimgHTTPCache
import FeedimgModel

/// The stored responses of `GET /v1/fetch`, in the disk cache and the memory of a loader.
///
/// The disk has up to five variants of a URL (RFC 9111 §4.1). Memory has the one that was read last; a request that
/// selects another one reads the disk.
struct ResponseStore: Sendable {
  struct Hit: Sendable {
    var key: String
    var response: StoredResponse
    var bytes: [UInt8]
  }

  let resources: LoaderResources

  /// The stored response that a request selects, from memory or else the disk.
  ///
  /// - Parameters:
  ///   - request: The request of a client.
  ///   - inMemory: Whether to skip the disk; otherwise call it only on the thread for files.
  /// - Returns: Nil if there is none, and whether there are variants for other requests.
  func find(_ request: FetchRequest, inMemory: Bool = false) -> (hit: Hit?, hasOthers: Bool) {
    let key = key(of: request)
    if let image = resources.storage.memory[key], let hit = Hit(key, image, for: request) {
      if !inMemory { noteUse(of: hit) }
      return (hit, false)
    }
    guard !inMemory else { return (nil, false) }
    let image = resources.storage.memory.fill(key) {
      resources.storage.store.read(key, for: request.fields).map(MemoryCache.Image.init)
    }
    guard let image else { return (nil, false) }
    let hit = Hit(key, image, for: request)
    return (hit, hit == nil)
  }

  /// Tells the disk that a response was used from memory.
  func noteUse(of hit: Hit) { resources.storage.uses.note(hit.key, for: hit.response.varied) }

  /// Commits the body of a response.
  func commit(
    _ writer: any ImageWriting,
    _ response: StoredResponse,
    to request: FetchRequest
  ) throws(CacheError) {
    let metadata = metadata(response, to: request)
    _ = try writer.commit(metadata)
    resources.storage.memory.remove(metadata.key)
  }

  func metadata(_ response: StoredResponse, to request: FetchRequest) -> ImageMetadata {
    ImageMetadata(key: key(of: request), role: .original, mediaType: "", response: response)
  }

  private func key(of request: FetchRequest) -> String { ResponseKey(request.url, request.fields).text }
}

extension ResponseStore.Hit {
  /// - Returns: Nil if the stored response is of another variant.
  fileprivate init?(_ key: String, _ image: MemoryCache.Image, for request: FetchRequest) {
    guard let response = image.response, response.matches(request.fields) else { return nil }
    self.init(key: key, response: response, bytes: image.bytes)
  }
}

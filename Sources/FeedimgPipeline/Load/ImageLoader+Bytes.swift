import FeedimgHTTPCache
public import FeedimgModel
import FeedimgSystem

/// The encoded bytes of a cached image.
public struct EncodedImage: Sendable, Hashable {
  /// The requested URL.
  public var url: ImageURL
  /// The complete encoded image.
  public var bytes: [UInt8]
  /// Detected from the bytes.
  public var mediaType: String
  /// `memory` or `disk`.
  public var source: LoadedImage.Source
  /// The file in the disk cache; nil if the image is only in memory.
  public var path: String?
  /// Whether the image may be out of date; nil if its response is not known.
  public var freshness: ImageFreshness?
}

extension ImageLoader {
  /// Returns the cached image of a URL, fresh or stale; nil if there is none.
  ///
  /// The loader does not decide and sends no request. The use counts for the order of eviction.
  ///
  /// - Parameters:
  ///   - url: The URL of the image.
  ///   - cache: Where to look: `bypassDisk` looks only in memory, `bypassMemory` only on disk.
  /// - Returns: The image, verified if it comes from disk.
  public func cached(_ url: ImageURL, cache: CachePolicy = .default) async -> EncodedImage? {
    guard let image = await cached(ImageVariant(role: .original, url: url), by: cache) else { return nil }
    return EncodedImage(
      url: url,
      bytes: image.bytes,
      mediaType: image.mediaType,
      source: image.source,
      path: image.path,
      freshness: image.freshness(at: resources.clock())
    )
  }

  /// Keeps the bytes of an image as the image of a URL, such as those of a photo that the user has just sent.
  ///
  /// They replace a cached image of the URL, except for the file with `bypassDisk`. Loads show them at once, and
  /// later ask the server whether it has another version, as for a response without freshness.
  ///
  /// - Parameters:
  ///   - bytes: The complete encoded image, in a format that feedimg recognizes.
  ///   - url: The URL of the image.
  ///   - role: The role, which chooses the limit that the image counts toward.
  ///   - cache: Where to keep them: `bypassMemory` keeps them only on disk, `bypassDisk` only in memory. An older
  ///     file then stays, and loads show it once memory has dropped the image.
  /// - Throws: ``LoadError``: `notAnImage`, `tooLarge`, or `unavailable` if the file cannot be written. Memory
  ///   then still has the image, unless it was bypassed. With `bypassDisk`, `unavailable` means that memory keeps
  ///   no images, such as when the system is short of memory.
  public func store(
    _ bytes: [UInt8],
    for url: ImageURL,
    as role: ImageVariant.Role = .original,
    cache: CachePolicy = .default
  ) async throws(LoadError) {
    try await keep(bytes, ImageVariant(role: role, url: url), cache)
  }

  @PipelineActor private func keep(
    _ bytes: [UInt8],
    _ variant: ImageVariant,
    _ cache: CachePolicy
  ) async throws(LoadError) {
    let (url, role, settings) = (variant.url, variant.role, resources.sources.settings.currentSettings())
    let key = identity.key(of: url)
    let (memory, store) = (resources.storage.memory, resources.storage.store)
    guard let mediaType = ImageFormat.sniff(Array(bytes.prefix(ImageFormat.prefixLength)), declared: nil)
    else {
      throw LoadError(.notAnImage, url: url, message: "the bytes are not a supported image")
    }
    guard bytes.count <= settings.downloadLimit.bytes else {
      let limit = settings.downloadLimit
      throw LoadError(.tooLarge, url: url, message: "the image is above the limit of \(limit)")
    }
    resources.follow(settings)
    let now = resources.clock()
    let head = ResponseHead(
      status: 200,
      fields: HTTPFields([.init(name: "Content-Type", value: mediaType)]),
      url: url,
      contentLength: bytes.count
    )
    let response = StoredResponse(head: head, requestedAt: now, respondedAt: now)
    let image = MemoryCache.Image(
      role: role,
      mediaType: mediaType,
      bytes: bytes,
      path: nil,
      response: response
    )
    // A store that still runs would replace the new file by an older one.
    _ = await resources.storage.runningStores[key]?.value()
    if cache.usesMemory { memory.insert(image, for: key) } else { memory.remove(key) }
    guard cache.usesDisk else {
      if memory.has(image, for: key) { return }
      guard memory.encoded.limit.bytes > 0 else {
        throw LoadError(.unavailable, url: url, message: "memory keeps no images")
      }
      throw LoadError(.tooLarge, url: url, message: "memory does not keep an image of this size")
    }
    let metadata = ImageMetadata(key: key, role: role, mediaType: mediaType, response: response)
    let written = await resources.storage.writes.run {
      Result { () throws(CacheError) -> any ImageWriting in
        // A writer that is released without a commit leaves no bytes.
        let writer = try store.makeWriter()
        try bytes.withUnsafeBytes { buffer in
          Result { () throws(CacheError) -> Void in try writer.write(buffer) }
        }.get()
        return writer
      }
    }
    do throws(CacheError) {
      let stored = try await resources.storage.commit(written.get(), metadata).get()
      memory.noteFile(stored.path, of: image, for: key)
    } catch {
      throw LoadError(.unavailable, url: url, message: "not kept: \(error)")
    }
  }
}

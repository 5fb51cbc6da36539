/// An image in the cache.
package struct StoredImage: Sendable, Hashable {
  /// The ``ImageURL/key`` of the requested URL.
  package var key: String
  package var role: ImageVariant.Role
  /// The path of a file that a client can open directly.
  package var path: String
  package var size: ByteCount
  /// The cache's checksum of the body.
  package var checksum: UInt64
  package var mediaType: String
  /// Seconds since 1970.
  package var storedAt: Double
  /// Seconds since 1970, accurate to about a minute.
  package var usedAt: Double
  /// The response with the image, for its freshness; nil in a listing.
  package var response: StoredResponse?
  /// Whether the image is exempt from eviction and expiry.
  package var isPinned: Bool

  package init(
    key: String,
    role: ImageVariant.Role,
    path: String,
    size: ByteCount,
    checksum: UInt64,
    mediaType: String,
    storedAt: Double,
    usedAt: Double,
    isPinned: Bool = false
  ) {
    self.key = key
    self.role = role
    self.path = path
    self.size = size
    self.checksum = checksum
    self.mediaType = mediaType
    self.storedAt = storedAt
    self.usedAt = usedAt
    self.isPinned = isPinned
  }
}

/// The first part of an interrupted download, to resume.
package struct PartialDownload: Sendable, Hashable {
  /// The response of the whole image.
  package var response: StoredResponse
  package var bytes: [UInt8]

  package init(response: StoredResponse, bytes: [UInt8]) {
    self.response = response
    self.bytes = bytes
  }
}

/// The description of an image to store.
package struct ImageMetadata: Sendable, Hashable {
  package var key: String
  package var role: ImageVariant.Role
  package var mediaType: String
  /// The response with the image, for freshness and validation (RFC 9111).
  package var response: StoredResponse

  package init(key: String, role: ImageVariant.Role, mediaType: String, response: StoredResponse) {
    self.key = key
    self.role = role
    self.mediaType = mediaType
    self.response = response
  }
}

/// A failure of the cache.
package struct CacheError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line, with the path and the system's reason.
  package var message: String
  /// Whether the disk or the user's quota is full.
  package var isDiskFull: Bool

  package init(_ message: String, isDiskFull: Bool = false) {
    self.message = message
    self.isDiskFull = isDiskFull
  }

  package var description: String { message }
}

/// Stores images on disk (a port).
///
/// Several processes may use it at once.
package protocol ImageStoring: Sendable {
  /// Whether a read would find each of these keys, judged by the index and the length of the file.
  ///
  /// Does not read bodies. Returns false for all keys if the cache cannot be read.
  func contains(_ keys: [String]) -> [Bool]

  /// The number of times that a user removed images, through any process; costs one system call.
  ///
  /// When it changes, memory drops the images that came before.
  var removals: Int { get }

  /// The verified image of a key and the response that brought it; nil if there is none.
  ///
  /// Removes a body that is missing or altered, and returns nil. Marks the entry as used.
  ///
  /// The request selects one of several variants (`Vary`); nil selects the oldest.
  func read(_ key: String, for request: HTTPFields?) -> (image: StoredImage, bytes: [UInt8])?

  /// The description of the image of a key, without reading its body or counting a use; nil if there is none.
  ///
  /// Of several variants, it is the oldest.
  func image(of key: String) -> StoredImage?

  /// Counts uses of an image shown from memory; selects the variant as ``read(_:for:)`` does.
  func noteUse(of key: String, for request: HTTPFields, times: Int)

  /// Applies the limits of new settings. Lower limits take effect when the next image is stored.
  func follow(_ settings: UserSettings)

  /// The response with the image of a key, for freshness and validation; nil if there is none.
  ///
  /// Selects the variant as ``read(_:for:)`` does. Does not read the body or mark the entry as used.
  func response(for key: String, to request: HTTPFields?) -> StoredResponse?

  /// Updates a stored response from a 304, or from a 200 to HEAD, and keeps its body (RFC 9111 §4.3.4,
  /// §4.3.5).
  ///
  /// Only the statuses 200 and 304 change anything.
  ///
  /// - Parameters:
  ///   - key: The key of the image.
  ///   - stored: The response whose validators were sent. Only its version and variant are updated.
  ///   - response: The response to the request.
  /// - Returns: The stored response after the update; nil if the image is gone or has another version.
  /// - Throws: ``CacheError`` if the update cannot be written. The stored response then stays unchanged.
  func refresh(
    _ key: String,
    validating stored: StoredResponse,
    response: StoredResponse
  ) throws(CacheError) -> StoredResponse?

  /// Removes the image of a key, and returns whether it existed.
  @discardableResult
  func remove(_ key: String) throws(CacheError) -> Bool

  /// Removes all images, including pinned ones, and all partial downloads.
  ///
  /// - Throws: ``CacheError`` if a file cannot be removed. All others are removed.
  func clear() throws(CacheError)

  /// Whether the cache may have partial downloads; it reads no file.
  var hasPartialDownloads: Bool { get }

  /// The verified partial download of an image; nil if there is none.
  func partialDownload(of key: String) -> PartialDownload?

  /// Removes the partial download of an image, if any.
  func removePartialDownload(of key: String)

  /// Starts writing an image. Without a commit, nothing remains.
  ///
  /// If a user removes images after ``removals`` was read, when the load began, the image is not kept.
  ///
  /// - Throws: ``CacheError`` if the folder cannot be created.
  func makeWriter(since removals: Int) throws(CacheError) -> any ImageWriting
}

extension ImageStoring {
  package func read(_ key: String) -> (image: StoredImage, bytes: [UInt8])? { read(key, for: nil) }

  /// Starts writing an image whose load begins now.
  package func makeWriter() throws(CacheError) -> any ImageWriting { try makeWriter(since: removals) }
}

/// Writes one image to the cache.
///
/// Use it from one thread at a time.
package protocol ImageWriting: Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError)

  /// A reader for the bytes written so far, also after commit and discard; nil if it cannot be opened.
  func makeReader() -> (any WrittenReading)?

  /// Publishes the complete image atomically and replaces an earlier one with its key.
  ///
  /// Images that are ready at about the same time are committed together, to save disk operations. `later` must
  /// run its closure once, a moment later.
  ///
  /// - Throws: ``CacheError`` if this image cannot be stored. The others may still be.
  func commit(
    _ metadata: ImageMetadata,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage

  /// Writes a record of the image beside its bytes, so that its partial download survives a killed process.
  func writeRecoveryRecord(_ metadata: ImageMetadata)

  /// Keeps the written bytes as a partial download and replaces an earlier one. The cache may evict it.
  ///
  /// - Throws: ``CacheError`` if it cannot be written. An earlier partial download then remains.
  func keepPartial(_ metadata: ImageMetadata) throws(CacheError)

  /// Discards the written bytes. Does nothing after a commit.
  func discard()
}

/// Reads the written bytes of an image, from any thread.
package protocol WrittenReading: Sendable {
  /// Reads a range of bytes that were written; nil if they can no longer be read.
  func bytes(at position: Int, count: Int) -> [UInt8]?
}

/// The stored response of an image, for its reuse (RFC 9111).
package struct StoredResponse: Sendable, Hashable {
  package var head: ResponseHead
  /// The sent request fields that the response's `Vary` names.
  package var varied: HTTPFields
  /// When the request was sent, in seconds since 1970.
  package var requestedAt: Double
  /// When the head arrived, in seconds since 1970.
  package var respondedAt: Double

  package init(
    head: ResponseHead,
    varied: HTTPFields = HTTPFields(),
    requestedAt: Double,
    respondedAt: Double
  ) {
    self.head = head
    self.varied = varied
    self.requestedAt = requestedAt
    self.respondedAt = respondedAt
  }
}

/// An image that the cache keeps.
package struct StoredImage: Sendable, Hashable {
  /// ``ImageURL/key`` of the URL that was asked for.
  package var key: String
  package var role: ImageVariant.Role
  /// A file that a client can open as it is.
  package var path: String
  package var size: ByteCount
  /// Of the body, as the cache makes it.
  package var checksum: UInt64
  package var mediaType: String
  /// Seconds since 1970.
  package var storedAt: Double
  /// Seconds since 1970; within a minute or so.
  package var usedAt: Double
  /// What brought it, for its freshness; nil where it was only listed.
  package var answer: StoredAnswer?
  /// Whether it stays whatever else is stored, and however long it is not used.
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
    answer: StoredAnswer? = nil,
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
    self.answer = answer
    self.isPinned = isPinned
  }
}

/// The beginning of an image whose transfer broke off, to be gone on with.
package struct ImageBeginning: Sendable, Hashable {
  /// That of the whole image.
  package var answer: StoredAnswer
  package var bytes: [UInt8]

  package init(answer: StoredAnswer, bytes: [UInt8]) {
    self.answer = answer
    self.bytes = bytes
  }
}

/// What goes with the bytes of an image into the cache.
package struct ImageMetadata: Sendable, Hashable {
  package var key: String
  package var role: ImageVariant.Role
  package var mediaType: String
  /// The head of the answer that brought it, for freshness and validation (RFC 9111).
  package var head: ResponseHead
  /// The fields of the request that the answer's `Vary` names, as they were sent (RFC 9111 §4.1).
  package var varied: HTTPFields
  /// When its request was sent (RFC 9111 §4.2.3), in seconds since 1970; nil stands for the time of the commit.
  package var requestedAt: Double?
  /// When its head came (RFC 9111 §4.2.3), in seconds since 1970; nil stands for the time of the commit.
  package var respondedAt: Double?

  package init(
    key: String,
    role: ImageVariant.Role,
    mediaType: String,
    head: ResponseHead,
    varied: HTTPFields = HTTPFields(),
    requestedAt: Double? = nil,
    respondedAt: Double? = nil
  ) {
    self.key = key
    self.role = role
    self.mediaType = mediaType
    self.head = head
    self.varied = varied
    self.requestedAt = requestedAt
    self.respondedAt = respondedAt
  }

  package init(key: String, role: ImageVariant.Role, mediaType: String, answer: StoredAnswer) {
    self.init(
      key: key,
      role: role,
      mediaType: mediaType,
      head: answer.head,
      varied: answer.varied,
      requestedAt: answer.requestedAt,
      respondedAt: answer.respondedAt
    )
  }
}

/// Why the cache could not do what it was asked to.
package struct CacheError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What to branch on.
  package enum Code: String, Sendable, Hashable {
    /// The folder cannot be made, read or written.
    case folder
    /// The index cannot be read or written.
    case index
    /// A body cannot be written or read.
    case body
    /// An archive cannot be used.
    case archive
  }

  package var code: Code
  /// One line in words, with the path and the system's reason.
  package var message: String
  /// Whether the disk, or what one may use of it, is full.
  package var isForWantOfRoom: Bool

  package init(_ code: Code, _ message: String, isForWantOfRoom: Bool = false) {
    self.code = code
    self.message = message
    self.isForWantOfRoom = isForWantOfRoom
  }

  package var description: String { message }
}

/// Keeps images on disk (a port); safe to be used by several processes at once.
package protocol ImageStoring: Sendable {
  /// Whether a read would now find each of these keys, by index and file length; bodies are not read.
  ///
  /// A cache that cannot be read has nothing.
  func contains(_ keys: [String]) -> [Bool]

  /// Whether a read would find nothing, whatever the key; false also where that cannot be told soon.
  var isEmpty: Bool { get }

  /// The image of a key with its bytes, verified, and the answer that brought them; nil where there is none.
  ///
  /// A body that is missing or not what was stored is removed and counts as none. Marks the entry as used.
  func read(_ key: String) -> (image: StoredImage, bytes: [UInt8])?

  /// The same, of several answers of a URL (`Vary`) the one that was chosen by what is sent, else the first that came.
  func read(_ key: String, for request: HTTPFields) -> (image: StoredImage, bytes: [UInt8])?

  /// Counts an image as used so often that was shown without being read, from memory; chosen as ``read(_:for:)`` does.
  func noteUse(of key: String, for request: HTTPFields, times: Int)

  /// Holds to the limits of these settings from now on; lower ones take effect with the next image stored.
  func follow(_ settings: UserSettings)

  /// The answer that brought the image of a key, for freshness and validation; nil where there is none.
  ///
  /// The body is not looked at, and the entry does not count as used.
  func answer(for key: String) -> StoredAnswer?

  /// The same, chosen as ``read(_:for:)`` does.
  func answer(for key: String, to request: HTTPFields) -> StoredAnswer?

  /// Takes the news of a 304, or of an answer 200 to HEAD, into what is stored, whose body stays (RFC 9111 §4.3.4, §4.3.5).
  ///
  /// - Parameters:
  ///   - key: The key of the image.
  ///   - asked: The answer whose validators were sent; news of it say nothing about another version or variant.
  ///   - news: What the answer said, and when; of a status other than 200 and 304 nothing is taken in.
  /// - Returns: What is stored now; nil where the image has gone or is another version.
  /// - Throws: ``CacheError`` when it cannot be written. What was stored stays as it was then.
  func refresh(_ key: String, asked: StoredAnswer, news: StoredAnswer) throws(CacheError) -> StoredAnswer?

  /// Removes the image of a key; whether there was one.
  @discardableResult
  func remove(_ key: String) throws(CacheError) -> Bool

  /// The beginning that was set aside of an image, verified; nil where there is none.
  func beginning(of key: String) -> ImageBeginning?

  /// Removes the beginning of an image; harmless where there is none.
  func removeBeginning(of key: String)

  /// Begins to write an image; what is not committed leaves nothing behind.
  func makeWriter() throws(CacheError) -> any ImageWriting
}

/// Writes one image into the cache; use from one thread at a time.
package protocol ImageWriting: Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError)

  /// Reads again what was written, also while more is, and whatever becomes of it; nil where that cannot be had.
  func makeReader() -> (any WrittenReading)?

  /// Makes the image visible, whole and at once, in place of an earlier one of its key.
  func commit(_ metadata: ImageMetadata) throws(CacheError) -> StoredImage

  /// The same, together with others that come at about the same time, which takes less than one after the other.
  ///
  /// - Parameters:
  ///   - metadata: That of the image.
  ///   - later: Has something done in a moment, once, whatever happens.
  /// - Returns: The image, when it is visible.
  /// - Throws: ``CacheError`` when it cannot be kept; the others may be all the same.
  func commit(
    _ metadata: ImageMetadata,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage

  /// Tells of what image the body is that is being written, so that its beginning outlives a process that is killed.
  ///
  /// - Parameter metadata: That of the whole image.
  func announce(_ metadata: ImageMetadata)

  /// Keeps what was written as the beginning of an image, in place of an earlier one; may be given up for want of room.
  ///
  /// - Parameter metadata: That of the whole image.
  /// - Throws: ``CacheError`` when it cannot be written; an earlier beginning stays then.
  func setAside(_ metadata: ImageMetadata) throws(CacheError)

  /// Throws away what was written; harmless after a commit.
  func discard()
}

/// What was written of an image, for who reads it again; from any thread.
package protocol WrittenReading: Sendable {
  /// Reads from some position so many bytes, all of which were written.
  ///
  /// - Returns: Nil where they cannot be read any more.
  func bytes(at position: Int, count: Int) -> [UInt8]?
}

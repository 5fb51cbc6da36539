import FeedimgModel

/// Everything about a stored image that does not change while its body stays the same.
struct EntryRecord: Sendable, Hashable {
  var key: String
  var role: ImageVariant.Role
  /// Whether it neither gives way nor expires.
  var isPinned = false
  var mediaType: String
  var body: BodyName
  /// Of the body, in bytes.
  var size: Int
  /// Of the body.
  var checksum: UInt64
  /// Seconds since 1970, to the millisecond, as all times here.
  var storedAt: Double
  var requestedAt: Double
  var respondedAt: Double
  /// What brought the body, in the form of ``StoredAnswer/record(_:varied:)``; read only when it is asked for.
  var answer: [UInt8]

  /// The index knows an entry by this; two keys that share it displace each other.
  var identifier: Int64 { Int64(bitPattern: body.keyHash) }

  var budget: Budget { isPinned ? .pinned : Budget(role) }
}

extension EntryRecord {
  init(_ metadata: ImageMetadata, body: BodyName, size: Int, checksum: UInt64, storedAt: Double) {
    self.init(
      key: metadata.key,
      role: metadata.role,
      mediaType: metadata.mediaType,
      body: body,
      size: size,
      checksum: checksum,
      storedAt: storedAt,
      requestedAt: metadata.requestedAt ?? storedAt,
      respondedAt: metadata.respondedAt ?? storedAt,
      answer: StoredAnswer.record(metadata.head, varied: metadata.varied)
    )
  }

  /// The same entry, pinned or not.
  func pinned(_ isPinned: Bool) -> EntryRecord {
    var copy = self
    copy.isPinned = isPinned
    return copy
  }

  /// The same body with the news of a 304.
  func updated(by answer: StoredAnswer) -> EntryRecord {
    var copy = self
    copy.requestedAt = answer.requestedAt
    copy.respondedAt = answer.respondedAt
    copy.answer = StoredAnswer.record(answer.head, varied: answer.varied)
    return copy
  }

  func storedImage(path: String, usedAt: Double) -> StoredImage {
    StoredImage(
      key: VariantKey.url(key),
      role: role,
      path: path,
      size: ByteCount(size),
      checksum: checksum,
      mediaType: mediaType,
      storedAt: storedAt,
      usedAt: usedAt,
      isPinned: isPinned
    )
  }
}

import FeedimgCache
import FeedimgJSON
public import FeedimgModel

/// How much the cache keeps, and how much it may.
public struct CacheSummary: Sendable, Hashable {
  /// The images of one role.
  public struct Part: Sendable, Hashable {
    /// How many there are.
    public var count: Int
    /// What they take.
    public var size: ByteCount
    /// What they may take.
    public var limit: ByteCount
  }

  /// Where the cache is; need not exist.
  public var folder: String
  /// The images in full size.
  public var originals: Part
  /// The smaller ones.
  public var thumbnails: Part
  /// Images unused for so many days are removed.
  public var expiryDays: Int

  /// How many images there are.
  public var count: Int { originals.count + thumbnails.count }

  /// What all images take.
  public var size: ByteCount { ByteCount(originals.size.bytes + thumbnails.size.bytes) }

  init(_ info: CacheInfo) {
    func part(_ role: ImageVariant.Role) -> Part {
      let share = info.shares.first { $0.role == role }
      return Part(
        count: share?.entries ?? 0,
        size: share?.size ?? ByteCount(0),
        limit: share?.limit ?? ByteCount(0)
      )
    }
    folder = info.folder
    originals = part(.original)
    thumbnails = part(.thumbnail)
    expiryDays = info.unusedDays
  }

  /// The same as one line of JSON, with sizes in bytes.
  public var json: String {
    func value(_ part: Part) -> JSONValue {
      [
        "count": .integer(part.count), "bytes": .integer(part.size.bytes),
        "limit": .integer(part.limit.bytes),
      ]
    }
    let value: JSONValue = [
      "folder": .string(folder), "count": .integer(count), "bytes": .integer(size.bytes),
      "originals": value(originals), "thumbnails": value(thumbnails), "expiryDays": .integer(expiryDays),
    ]
    return value.text(.compact)
  }
}

/// One image that the cache keeps.
public struct CachedImage: Sendable, Hashable {
  /// The URL, in the form that the cache compares.
  public var url: String
  /// Whose budget it counts against.
  public var role: ImageVariant.Role
  /// A file that any program can open.
  public var path: String
  /// The length of the file.
  public var size: ByteCount
  /// Told by the bytes, such as `image/webp`.
  public var mediaType: String
  /// Seconds since 1970.
  public var storedAt: Double
  /// Seconds since 1970, within a minute or so.
  public var usedAt: Double

  init(_ image: StoredImage) {
    url = image.key
    role = image.role
    path = image.path
    size = image.size
    mediaType = image.mediaType
    storedAt = image.storedAt
    usedAt = image.usedAt
  }

  /// The same as one line of JSON, with the size in bytes.
  public var json: String {
    let value: JSONValue = [
      "url": .string(url), "role": .string(role.rawValue), "path": .string(path),
      "bytes": .integer(size.bytes),
      "mediaType": .string(mediaType), "storedAt": .integer(Int(storedAt)), "usedAt": .integer(Int(usedAt)),
    ]
    return value.text(.compact)
  }
}

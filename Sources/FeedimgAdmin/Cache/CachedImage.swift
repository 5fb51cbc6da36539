import FeedimgCache
import FeedimgJSON
public import FeedimgModel

/// One image that the cache keeps.
public struct CachedImage: Sendable, Hashable {
  /// The URL, in the form that the cache compares.
  public var url: String
  /// Whether it is the picture in full size or a smaller one.
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
  /// Whether it stays whatever else is stored, and however long it is not used.
  public var isPinned: Bool

  /// What comes first in a list.
  public enum Order: String, Sendable, Hashable, CaseIterable {
    /// The last used.
    case used
    /// The last stored.
    case stored
    /// The largest.
    case size
    /// The first URL, compared as bytes.
    case url

    var cacheOrder: CacheOrder {
      switch self {
      case .used: .used
      case .stored: .stored
      case .size: .size
      case .url: .key
      }
    }
  }

  /// A kind of images that has a limit of its own.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// In full size, not pinned.
    case originals
    /// Smaller, not pinned.
    case thumbnails
    /// Of either size.
    case pinned

    var budget: Budget {
      switch self {
      case .originals: .originals
      case .thumbnails: .thumbnails
      case .pinned: .pinned
      }
    }
  }

  init(_ image: StoredImage) {
    url = image.key
    role = image.role
    path = image.path
    size = image.size
    mediaType = image.mediaType
    storedAt = image.storedAt
    usedAt = image.usedAt
    isPinned = image.isPinned
  }

  /// The same as one line of JSON, with the size in bytes.
  public var json: String {
    let value: JSONValue = [
      "url": .string(url), "role": .string(role.rawValue), "path": .string(path),
      "bytes": .integer(size.bytes), "mediaType": .string(mediaType),
      "storedAt": .integer(Int(storedAt)), "usedAt": .integer(Int(usedAt)), "pinned": .bool(isPinned),
    ]
    return value.text(.compact)
  }
}

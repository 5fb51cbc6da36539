import Feedimg
import FeedimgCache
import FeedimgJSON
public import FeedimgModel
import FeedimgSystem

/// One image that the cache keeps.
public struct CachedImage: Sendable, Hashable {
  /// The URL in the form that the cache compares, without user and password.
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
    url = ImageURL.withoutCredentials(image.key)
    role = image.role
    path = image.path
    size = image.size
    mediaType = image.mediaType
    storedAt = image.storedAt
    usedAt = image.usedAt
    isPinned = image.isPinned
  }

  /// The same as one line of JSON, with the size in bytes and times as RFC 3339 spells them.
  public var json: String {
    let value: JSONValue = [
      "url": .string(url), "role": .string(role.rawValue), "path": .string(path),
      "bytes": .integer(size.bytes), "mediaType": .string(mediaType),
      "storedAt": .string(Timestamp.text(storedAt)), "usedAt": .string(Timestamp.text(usedAt)),
      "pinned": .bool(isPinned),
    ]
    return value.text(.compact)
  }
}

/// All that is known of one image that the cache keeps, and what a load would do with it.
public struct CachedImageDetails: Sendable, Hashable {
  /// A field of a message.
  public struct Field: Sendable, Hashable {
    /// As it was sent.
    public var name: String
    /// As it was sent.
    public var value: String
  }

  /// What a load does that finds the image.
  public enum NextLoad: String, Sendable, Hashable, CaseIterable {
    /// The image is shown, and nobody is asked.
    case show
    /// The image is shown at once, and its server is asked about it meanwhile, where the policy would fetch it.
    case showAndAsk = "show-and-ask"
    /// Its server is asked first, where the policy would fetch it: the image was chosen for another program.
    case askFirst = "ask-first"
  }

  /// The file, its size, and when it was stored and used.
  public var image: CachedImage
  /// Whether it may be out of date, and by which rule.
  public var freshness: ImageFreshness
  /// For how long it was fresh from its beginning, in seconds.
  public var lifetime: Double
  /// What a load does now.
  public var nextLoad: NextLoad
  /// What its server would be asked with; none where nothing tells versions apart, so that all of it is asked for.
  public var question: [Field]
  /// Whether a transfer of it that breaks off can be gone on with: it has a strong validator.
  public var hasStrongValidator: Bool
  /// The fields of the response that brought it, as far as they may be kept.
  public var fields: [Field]
  /// The fields of the request that the image was chosen by, as `Vary` names them.
  public var chosenBy: [Field]

  init(_ image: CachedImage, _ response: StoredResponse, identity: RequestIdentity, now: Double) {
    func fields(_ fields: HTTPFields) -> [Field] {
      fields.fields.map { Field(name: $0.name, value: $0.value) }
    }
    let freshness = Freshness(of: response, at: now)
    let validators = Validators(of: response)
    self.image = image
    self.freshness = ImageFreshness(freshness)
    lifetime = freshness.lifetime.seconds
    nextLoad =
      switch RevalidationPlan(response, by: identity, at: now) {
      case .none: .show
      case .meanwhile: .showAndAsk
      case .before: .askFirst
      }
    question = fields(validators.conditions)
    hasStrongValidator = validators.rangeCondition != nil
    self.fields = fields(response.head.fields)
    chosenBy = fields(response.varied)
  }

  /// The same as one line of JSON, with lengths of time in seconds.
  public var json: String {
    func value(_ fields: [Field]) -> JSONValue {
      .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }
    let value: JSONValue = [
      "url": .string(image.url), "role": .string(image.role.rawValue), "path": .string(image.path),
      "bytes": .integer(image.size.bytes), "mediaType": .string(image.mediaType),
      "storedAt": .string(Timestamp.text(image.storedAt)),
      "usedAt": .string(Timestamp.text(image.usedAt)),
      "freshness": freshness.jsonValue, "lifetime": .integer(DeltaSeconds.whole(lifetime)),
      "nextLoad": .string(nextLoad.rawValue), "question": value(question),
      "strongValidator": .bool(hasStrongValidator), "fields": value(fields), "chosenBy": value(chosenBy),
    ]
    return value.text(.compact)
  }
}

extension ImageCache {
  /// What is known of the image of a URL; it does not count as used by that.
  ///
  /// - Parameter url: As the item spells it.
  /// - Returns: Nil where there is no such image, or the cache cannot be read.
  public func details(of url: ImageURL) -> CachedImageDetails? {
    guard let stored = cache.image(of: url.key), let response = stored.response else { return nil }
    return CachedImageDetails(
      CachedImage(stored),
      response,
      identity: RequestIdentity(userAgent: userAgent),
      now: SystemClock.seconds()
    )
  }

  /// How much there is of an image whose transfer broke off, and that is gone on with by the next load; nil for none.
  ///
  /// - Parameter url: As the item spells it.
  /// - Returns: What is kept of it.
  public func partialDownload(of url: ImageURL) -> ByteCount? {
    cache.partialDownload(of: url.key).map { ByteCount($0.bytes.count) }
  }
}

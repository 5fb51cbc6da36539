import Feedimg
import FeedimgHTTPCache
import FeedimgJSON
public import FeedimgModel
import FeedimgSystem

/// An image in the cache.
public struct CachedImage: Sendable, Hashable {
  /// The URL in normal form, without user and password.
  public var url: String
  /// Whether the image is an original or a thumbnail.
  public var role: ImageVariant.Role
  /// The path of the file, which any program can open.
  public var path: String
  /// The length of the file.
  public var size: ByteCount
  /// The media type as detected from the bytes, such as `image/webp`.
  public var mediaType: String
  /// The time of storing, in seconds since 1970.
  public var storedAt: Double
  /// The time of the last use, in seconds since 1970, accurate to about a minute.
  public var usedAt: Double
  /// Whether the image is pinned, so that it is neither evicted nor expires.
  public var isPinned: Bool

  /// The order of a list.
  public enum Order: String, Sendable, Hashable, CaseIterable {
    /// Most recently used first.
    case used
    /// Most recently stored first.
    case stored
    /// Largest first.
    case size
    /// By URL, compared as bytes.
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

  /// A kind of image with its own limit.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Originals that are not pinned.
    case originals
    /// Thumbnails that are not pinned.
    case thumbnails
    /// Pinned originals and thumbnails.
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

  /// The image as one line of JSON, with the size in bytes and times in the form of RFC 3339.
  public var json: String {
    var object = members
    object["pinned"] = .bool(isPinned)
    return JSONValue.object(object).text(.compact)
  }

  fileprivate var members: JSONObject {
    [
      "url": .string(url), "role": .string(role.rawValue), "path": .string(path),
      "bytes": .integer(size.bytes), "mediaType": .string(mediaType),
      "storedAt": .string(Timestamp.text(storedAt)), "usedAt": .string(Timestamp.text(usedAt)),
    ]
  }
}

/// The details of a cached image, and the effect of the next load.
public struct CachedImageDetails: Sendable, Hashable {
  /// A field of a request or response.
  public struct Field: Sendable, Hashable {
    /// The name as it was sent.
    public var name: String
    /// The value as it was sent.
    public var value: String
  }

  /// The effect of a load that finds the image in the cache.
  public enum NextLoad: String, Sendable, Hashable, CaseIterable {
    /// The load shows the image and sends no request.
    case show
    /// The load shows the image at once and, if the policy would fetch it, revalidates it at the same time.
    case showAndRevalidate = "show-and-revalidate"
    /// If the policy would fetch the image, the load revalidates it first.
    ///
    /// The server chose the stored image for a request with other fields (`Vary`).
    case revalidateFirst = "revalidate-first"
  }

  /// The image with its file, size and times.
  public var image: CachedImage
  /// Whether the image is fresh or stale, and the rule that decides.
  public var freshness: ImageFreshness
  /// The freshness lifetime in seconds.
  public var lifetime: Double
  /// The effect of a load now.
  public var nextLoad: NextLoad
  /// The conditional fields of a revalidation; without any validator, none, and the server sends the complete
  /// image.
  public var conditions: [Field]
  /// Whether the image has a strong validator, so that an interrupted download of it can resume.
  public var hasStrongValidator: Bool
  /// The stored fields of the response.
  public var fields: [Field]
  /// The request fields that `Vary` names.
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
      case .meanwhile: .showAndRevalidate
      case .before: .revalidateFirst
      }
    conditions = fields(validators.conditions)
    hasStrongValidator = validators.rangeCondition != nil
    self.fields = fields(response.head.fields)
    chosenBy = fields(response.varied)
  }

  /// The details as one line of JSON, with durations in seconds.
  public var json: String {
    func value(_ fields: [Field]) -> JSONValue {
      .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }
    var object = image.members
    object.append([
      "freshness": freshness.jsonValue, "lifetime": .integer(DeltaSeconds.whole(lifetime)),
      "nextLoad": .string(nextLoad.rawValue), "conditions": value(conditions),
      "strongValidator": .bool(hasStrongValidator), "fields": value(fields), "chosenBy": value(chosenBy),
    ])
    return JSONValue.object(object).text(.compact)
  }
}

extension ImageCache {
  /// The details of the image of a URL; reading them does not count as a use.
  ///
  /// If the cache has several, it takes the one that was fetched without credentials, otherwise any.
  ///
  /// - Parameter url: The URL of the image.
  /// - Returns: Nil if the cache has no such image or cannot be read.
  public func details(of url: ImageURL) -> CachedImageDetails? {
    let keys = (try? cache.keys(of: url.key)) ?? []
    guard let stored = keys.lazy.compactMap(cache.image(of:)).first, let response = stored.response else {
      return nil
    }
    return CachedImageDetails(
      CachedImage(stored),
      response,
      identity: RequestIdentity(userAgent: userAgent),
      now: SystemClock.seconds()
    )
  }

  /// The size of the partial download of an image, which the next load resumes.
  ///
  /// - Parameter url: The URL of the image.
  /// - Returns: The stored bytes; nil if there is no partial download.
  public func partialDownload(of url: ImageURL) -> ByteCount? {
    cache.partialDownload(of: url.key).map { ByteCount($0.bytes.count) }
  }
}

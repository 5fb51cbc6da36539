import FeedimgCache
import FeedimgJSON
public import FeedimgModel

/// How much the cache keeps, how much it may, and how it has served.
public struct CacheSummary: Sendable, Hashable {
  /// The images of one kind.
  public struct Part: Sendable, Hashable {
    /// How many there are.
    public var count: Int
    /// What they take.
    public var size: ByteCount
    /// What they may take.
    public var limit: ByteCount

    init(_ share: CacheInfo.Share?) {
      count = share?.entries ?? 0
      size = share?.size ?? ByteCount(0)
      limit = share?.limit ?? ByteCount(0)
    }

    init(_ beginnings: CacheInfo.PartialDownloads) {
      (count, size, limit) = (beginnings.count, beginnings.size, beginnings.limit)
    }

    var value: JSONValue {
      ["count": .integer(count), "bytes": .integer(size.bytes), "limit": .integer(limit.bytes)]
    }
  }

  /// Where the cache is; need not exist.
  public var folder: String
  /// The images in full size, but for those that are pinned.
  public var originals: Part
  /// The smaller ones, but for those that are pinned.
  public var thumbnails: Part
  /// The pinned images of either size.
  public var pinned: Part
  /// What came of images whose transfers broke off; no images yet, and never exported.
  public var beginnings: Part
  /// Images unused for so many days are removed.
  public var expiryDays: Int
  /// The reads that found an image, since the index was made.
  public var hits: Int
  /// The reads that found none.
  public var misses: Int
  /// When the image unused for longest was last used, in seconds since 1970; nil where there is none.
  public var oldestUse: Double?
  /// When an image was last used, in seconds since 1970; nil where there is none.
  public var newestUse: Double?
  /// About what images and index take of the disk, in whole blocks.
  public var sizeOnDisk: ByteCount

  /// How many images there are.
  public var count: Int { originals.count + thumbnails.count + pinned.count }

  /// What all images take.
  public var size: ByteCount { ByteCount(originals.size.bytes + thumbnails.size.bytes + pinned.size.bytes) }

  /// The part of the reads that found an image, from 0 to 1; nil before the first.
  public var hitRate: Double? { hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil }

  init(_ info: CacheInfo) {
    folder = info.folder
    originals = Part(info.shares.first { $0.budget == .originals })
    thumbnails = Part(info.shares.first { $0.budget == .thumbnails })
    pinned = Part(info.pinned)
    beginnings = Part(info.partialDownloads)
    expiryDays = info.unusedDays
    hits = max(0, info.hits)
    misses = max(0, info.misses)
    oldestUse = info.oldestUse
    newestUse = info.newestUse
    sizeOnDisk = info.sizeOnDisk
  }

  /// The same as one line of JSON, with sizes in bytes and times as RFC 3339 spells them.
  public var json: String {
    func time(_ seconds: Double?) -> JSONValue { .optional(seconds.map(Timestamp.text)) }
    let value: JSONValue = [
      "folder": .string(folder), "count": .integer(count), "bytes": .integer(size.bytes),
      "originals": originals.value, "thumbnails": thumbnails.value, "pinned": pinned.value,
      "beginnings": beginnings.value,
      "expiryDays": .integer(expiryDays), "hits": .integer(hits), "misses": .integer(misses),
      "oldestUse": time(oldestUse), "newestUse": time(newestUse), "bytesOnDisk": .integer(sizeOnDisk.bytes),
    ]
    return value.text(.compact)
  }
}

import FeedimgHTTPCache
import FeedimgJSON
public import FeedimgModel

/// The contents, limits and hit rate of the cache.
public struct CacheSummary: Sendable, Hashable {
  /// The entries of one kind.
  public struct Part: Sendable, Hashable {
    /// The number of entries.
    public var count: Int
    /// The bytes of the entries.
    public var size: ByteCount
    /// The most bytes that the entries may take.
    public var limit: ByteCount

    init(_ part: CacheInfo.Part) { (count, size, limit) = (part.entries, part.size, part.limit) }

    var value: JSONValue {
      ["count": .integer(count), "bytes": .integer(size.bytes), "limit": .integer(limit.bytes)]
    }
  }

  /// The folder of the cache, which need not exist.
  public var folder: String
  /// The originals, without pinned ones.
  public var originals: Part
  /// The thumbnails, without pinned ones.
  public var thumbnails: Part
  /// The pinned originals and thumbnails.
  public var pinned: Part
  /// The partial downloads, which are not counted as images.
  public var partialDownloads: Part
  /// The number of unused days after which an image is removed.
  public var expiryDays: Int
  /// The number of reads that found an image, since the index was created.
  public var hits: Int
  /// The number of reads that found no image, since the index was created.
  public var misses: Int
  /// The last use of the least recently used image, in seconds since 1970; nil if there is no image.
  public var oldestUse: Double?
  /// The last use of any image, in seconds since 1970; nil if there is no image.
  public var newestUse: Double?
  /// The approximate disk space of images and index, in whole blocks.
  public var sizeOnDisk: ByteCount

  /// The number of images.
  public var count: Int { originals.count + thumbnails.count + pinned.count }

  /// The bytes of all images.
  public var size: ByteCount { ByteCount(originals.size.bytes + thumbnails.size.bytes + pinned.size.bytes) }

  /// The share of reads that found an image, from 0 to 1; nil before the first read.
  public var hitRate: Double? { hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil }

  init(_ info: CacheInfo) {
    folder = info.folder
    originals = Part(info.originals)
    thumbnails = Part(info.thumbnails)
    pinned = Part(info.pinned)
    partialDownloads = Part(info.partialDownloads)
    expiryDays = info.unusedDays
    hits = max(0, info.hits)
    misses = max(0, info.misses)
    oldestUse = info.oldestUse
    newestUse = info.newestUse
    sizeOnDisk = info.sizeOnDisk
  }

  /// The summary as one line of JSON, with sizes in bytes and times in the form of RFC 3339.
  public var json: String {
    func time(_ seconds: Double?) -> JSONValue { .optional(seconds.map(Timestamp.text)) }
    let value: JSONValue = [
      "folder": .string(folder), "count": .integer(count), "bytes": .integer(size.bytes),
      "originals": originals.value, "thumbnails": thumbnails.value, "pinned": pinned.value,
      "partialDownloads": partialDownloads.value,
      "expiryDays": .integer(expiryDays), "hits": .integer(hits), "misses": .integer(misses),
      "oldestUse": time(oldestUse), "newestUse": time(newestUse), "bytesOnDisk": .integer(sizeOnDisk.bytes),
    ]
    return value.text(.compact)
  }
}

/// One line of JSON.
private func line(_ members: JSONValue) -> String { members.text(.compact) }

private func list(_ urls: [String]) -> JSONValue { .array(urls.map(JSONValue.string)) }

/// The result of a check of all stored images.
public struct CacheCheck: Sendable, Hashable {
  /// The number of intact images.
  public var whole: Int
  /// The URLs of damaged or missing images that the check removed.
  public var removed: [String]
  /// The URLs of damaged or missing images that could not be removed.
  public var damaged: [String]
  /// The URLs of images that could not be read now and were kept.
  public var unreadable: [String]

  /// Whether all remaining images are intact and readable.
  public var isIntact: Bool { damaged.isEmpty && unreadable.isEmpty }

  init(_ verification: CacheVerification) {
    whole = verification.whole
    removed = verification.removed.map(ImageURL.withoutCredentials)
    damaged = verification.damaged.map(ImageURL.withoutCredentials)
    unreadable = verification.unreadable.map(ImageURL.withoutCredentials)
  }

  /// The result as one line of JSON; `restored` is 0, because the check removes files without an entry in the index.
  public var json: String {
    line([
      "whole": .integer(whole), "removed": list(removed), "damaged": list(damaged),
      "unreadable": list(unreadable), "restored": .integer(0),
    ])
  }
}

/// The result of trimming the cache.
public struct CacheTrim: Sendable, Hashable {
  /// The number of removed images.
  public var count: Int
  /// The number of removed partial downloads.
  public var unfinished: Int
  /// The bytes that were freed.
  public var size: ByteCount
  /// The bytes of pinned images, which trimming never removes.
  public var pinned: ByteCount

  init(_ trimming: CacheTrimming) {
    count = trimming.entries
    unfinished = trimming.partialDownloads
    size = trimming.size
    pinned = trimming.pinned
  }

  /// The result as one line of JSON.
  public var json: String {
    line([
      "removed": .integer(count), "unfinished": .integer(unfinished), "bytes": .integer(size.bytes),
      "pinnedBytes": .integer(pinned.bytes),
    ])
  }
}

import Feedimg
import FeedimgAdmin

/// The contents of the cache, and the results of its commands, as text.
enum CacheText {
  static func summary(_ summary: CacheSummary) -> String {
    var lines = [Output.bold(summary.folder)]
    func add(_ label: String, _ value: String) { lines.append(ResolutionText.line(label, value)) }
    for (name, part) in [
      ("originals", summary.originals), ("thumbnails", summary.thumbnails), ("pinned", summary.pinned),
    ] {
      add(name, "\(images(part.count)), \(part.size.rounded) of \(part.limit)")
    }
    if summary.partialDownloads.count > 0 {
      let part = summary.partialDownloads
      let files = "\(part.count) partial download\(part.count == 1 ? "" : "s")"
      add("unfinished", "\(files), \(part.size.rounded) of \(part.limit)")
    }
    add("on disk", "about \(summary.sizeOnDisk.rounded)")
    if let rate = summary.hitRate {
      let reads = summary.hits + summary.misses
      add("hit rate", "\(Int((rate * 100).rounded())) % of \(reads) read\(reads == 1 ? "" : "s")")
    }
    if let oldest = summary.oldestUse, let newest = summary.newestUse {
      add("used", "from \(WallClock.date(oldest)) to \(WallClock.date(newest))")
    }
    add("expiry", "after \(summary.expiryDays) day\(summary.expiryDays == 1 ? "" : "s") without use")
    return lines.joined(separator: "\n")
  }

  static func line(_ image: CachedImage) -> String {
    [
      WallClock.date(image.usedAt), image.role.rawValue.padded(to: 9),
      (image.isPinned ? "pinned" : "").padded(to: 6), image.size.rounded.padded(to: 8, leading: true),
      image.mediaType.padded(to: 10), image.url,
    ].joined(separator: "  ")
  }

  static func check(_ check: CacheCheck) -> String {
    var lines = ["\(images(check.whole)) intact"]
    func add(_ urls: [String], _ state: String) { lines += urls.map { "\(state): \($0)" } }
    add(check.removed, "damaged, removed")
    add(check.damaged, "damaged, cannot be removed")
    add(check.unreadable, "cannot be read")
    return lines.joined(separator: "\n")
  }

  static func trim(_ trim: CacheTrim, to size: ByteCount?) -> String {
    let unfinished = " and \(trim.unfinished) partial download\(trim.unfinished == 1 ? "" : "s")"
    let removed =
      "removed \(images(trim.count))\(trim.unfinished > 0 ? unfinished : ""), \(trim.size.rounded)"
    guard let size, trim.pinned > size else { return removed }
    return removed + "; pinned images (\(trim.pinned.rounded)) stay"
  }

  /// A number of images, such as `1 image` or `3 images`.
  static func images(_ count: Int) -> String { "\(count) image\(count == 1 ? "" : "s")" }
}

import Feedimg
import FeedimgAdmin

/// What the cache holds and what was done to it, as a person reads it.
enum CacheText {
  static func summary(_ summary: CacheSummary) -> String {
    var lines = [Output.bold(summary.folder)]
    func add(_ label: String, _ value: String) { lines.append(ResolutionText.line(label, value)) }
    for (name, part) in [
      ("originals", summary.originals), ("thumbnails", summary.thumbnails), ("pinned", summary.pinned),
    ] {
      add(name, "\(images(part.count)), \(part.size.rounded) of \(part.limit)")
    }
    if summary.beginnings.count > 0 {
      let part = summary.beginnings
      let files = "\(part.count) transfer\(part.count == 1 ? "" : "s") to go on with"
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
    let size = image.size.rounded
    return [
      WallClock.date(image.usedAt), pad(image.role.rawValue, 9), pad(image.isPinned ? "pinned" : "", 6),
      pad(size, 8, leading: true), pad(image.mediaType, 10), image.url,
    ].joined(separator: "  ")
  }

  static func check(_ check: CacheCheck) -> String {
    var lines = ["\(images(check.whole)) in order"]
    func add(_ urls: [String], _ what: String) { lines += urls.map { "\(what): \($0)" } }
    if check.restored > 0 { lines.append("\(images(check.restored)) found that the index had lost") }
    add(check.removed, "damaged, removed")
    add(check.damaged, "damaged, and cannot be removed")
    add(check.unreadable, "cannot be read")
    return lines.joined(separator: "\n")
  }

  static func trim(_ trim: CacheTrim, to size: ByteCount?) -> String {
    let unfinished = " and \(trim.unfinished) unfinished transfer\(trim.unfinished == 1 ? "" : "s")"
    let removed =
      "removed \(images(trim.count))\(trim.unfinished > 0 ? unfinished : ""), \(trim.size.rounded)"
    guard let size, trim.pinned > size else { return removed }
    return removed + "; pinned images take \(trim.pinned.rounded) and stay"
  }

  static func exported(_ exported: ExportedImages) -> String {
    let written = "exported \(images(exported.count)), \(exported.size.rounded)"
    guard exported.personal > 0 else { return written }
    return written + "; left out \(images(exported.personal)) fetched with credentials"
  }

  static func imported(_ imported: ImportedImages) -> String {
    var parts = ["imported \(images(imported.count)), \(imported.size.rounded)"]
    if imported.present > 0 { parts.append("\(imported.present) stored already") }
    if imported.leftOut > 0 { parts.append("\(imported.leftOut) do not fit into the limits") }
    return parts.joined(separator: "; ")
  }

  /// So many images, in words.
  static func images(_ count: Int) -> String { "\(count) image\(count == 1 ? "" : "s")" }

  private static func pad(_ text: String, _ width: Int, leading: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return leading ? space + text : text + space
  }
}

import Feedimg

/// What the cache holds, as a person reads it.
enum CacheText {
  static func summary(_ summary: CacheSummary) -> String {
    func row(_ name: String, _ part: CacheSummary.Part) -> String {
      ResolutionText.line(
        name,
        "\(part.count) image\(part.count == 1 ? "" : "s"), \(part.size.rounded) of \(part.limit)"
      )
    }
    return [
      Output.bold(summary.folder), row("originals", summary.originals), row("thumbnails", summary.thumbnails),
    ].joined(separator: "\n")
  }

  static func line(_ image: CachedImage) -> String {
    let size = image.size.rounded
    return [
      WallClock.date(image.usedAt), pad(image.role.rawValue, 9), pad(size, 8, leading: true),
      pad(image.mediaType, 10), image.url,
    ].joined(separator: "  ")
  }

  private static func pad(_ text: String, _ width: Int, leading: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return leading ? space + text : text + space
  }
}

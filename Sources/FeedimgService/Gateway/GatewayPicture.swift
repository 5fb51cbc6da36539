import FeedimgModel

/// A picture in a document of a gateway, with the use that the client makes of it.
enum GatewayPicture: Sendable, Hashable {
  /// The policy chooses between an original and a thumbnail; nil for none.
  case chosen(original: String, thumbnail: String?)
  /// The original, which the user asks for; the thumbnail replaces it if it fails.
  case original(String, thumbnail: String?)
  /// An avatar, an emoji or a poster, which has no original.
  case thumbnail(String)

  /// The item to load, and whether the user asks for its original.
  ///
  /// Nil if a URL is invalid.
  var item: (item: FeedItem, asksForOriginal: Bool)? {
    func variant(_ role: ImageVariant.Role, _ text: String?) -> ImageVariant? {
      text.flatMap { try? ImageURL($0) }.map { ImageVariant(role: role, url: $0) }
    }
    let (original, thumbnail) = urls
    let item = FeedItem(
      original: variant(.original, original),
      thumbnail: variant(.thumbnail, thumbnail)
    )
    guard original == nil || item.original != nil, thumbnail == nil || item.thumbnail != nil else {
      return nil
    }
    if case .original = self { return (item, true) }
    return (item, false)
  }

  private var urls: (original: String?, thumbnail: String?) {
    switch self {
    case .chosen(let original, let thumbnail), .original(let original, let thumbnail): (original, thumbnail)
    case .thumbnail(let url): (nil, url)
    }
  }
}

extension GatewayPicture {
  /// The end of its address: the use, the URLs in base64, and the extension of a file name.
  ///
  /// Some clients look at the extension.
  var path: String {
    let (original, thumbnail) = urls
    let parts = [original, thumbnail].map { $0.map { Base64.encodeForURL($0.utf8) } ?? "" }
    return "\(letter)/\(parts[0])/\(parts[1]).\(Self.fileExtension(of: shown))"
  }

  /// Reads the end of an address; nil if it is invalid.
  init?(path: Substring) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let texts = [parts[1], parts[2].prefix { $0 != "." }].map { part in
      part.isEmpty ? nil : Base64.decode(String(part)).flatMap { String(validating: $0, as: UTF8.self) }
    }
    switch (parts[0], texts[0], texts[1]) {
    case ("c", let original?, let thumbnail): self = .chosen(original: original, thumbnail: thumbnail)
    case ("o", let original?, let thumbnail): self = .original(original, thumbnail: thumbnail)
    case ("t", nil, let thumbnail?): self = .thumbnail(thumbnail)
    default: return nil
    }
  }

  private var letter: String {
    switch self {
    case .chosen: "c"
    case .original: "o"
    case .thumbnail: "t"
    }
  }

  /// The URL whose extension the address has.
  private var shown: String {
    switch self {
    case .chosen(let original, let thumbnail): thumbnail ?? original
    case .original(let url, _), .thumbnail(let url): url
    }
  }

  private static func fileExtension(of url: String) -> String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    let name = path[(path.lastIndex(of: "/") ?? path.startIndex)...]
    let known = ["jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "jxl", "svg"]
    guard let dot = name.lastIndex(of: ".") else { return "jpg" }
    let found = name[name.index(after: dot)...].lowercased()
    return known.contains(found) ? found : "jpg"
  }
}

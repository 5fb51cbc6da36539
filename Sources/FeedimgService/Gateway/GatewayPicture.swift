import FeedimgModel

/// A picture in a document of a gateway, with the use that the client makes of it.
struct GatewayPicture: Sendable, Hashable {
  /// The use, with the letter that stands for it in addresses.
  private enum Use: String {
    /// The policy chooses between an original and a thumbnail.
    case chosen = "c"
    /// The original, which the user asks for; the thumbnail replaces it if it fails.
    case original = "o"
    /// An avatar, an emoji or a poster, which has no original.
    case thumbnail = "t"
  }

  private let use: Use
  private let original: String?
  private let thumbnail: String?

  static func chosen(original: String, thumbnail: String?) -> Self {
    Self(use: .chosen, original: original, thumbnail: thumbnail)
  }

  static func original(_ original: String, thumbnail: String?) -> Self {
    Self(use: .original, original: original, thumbnail: thumbnail)
  }

  static func thumbnail(_ thumbnail: String) -> Self {
    Self(use: .thumbnail, original: nil, thumbnail: thumbnail)
  }

  /// The item to load, and whether the user asks for its original.
  ///
  /// Nil if a URL is invalid.
  var item: (item: FeedItem, asksForOriginal: Bool)? {
    func variant(_ role: ImageVariant.Role, _ text: String?) -> ImageVariant? {
      text.flatMap { try? ImageURL($0) }.map { ImageVariant(role: role, url: $0) }
    }
    let item = FeedItem(
      original: variant(.original, original),
      thumbnail: variant(.thumbnail, thumbnail)
    )
    guard original == nil || item.original != nil, thumbnail == nil || item.thumbnail != nil else {
      return nil
    }
    return (item, use == .original)
  }
}

extension GatewayPicture {
  /// The end of its address: the use, the URLs in base64, and the extension of a file name.
  ///
  /// Some clients look at the extension.
  var path: String {
    let parts = [original, thumbnail].map { $0.map { Base64.encodeForURL($0.utf8) } ?? "" }
    let shown = (use == .original ? original : thumbnail ?? original) ?? ""
    return "\(use.rawValue)/\(parts[0])/\(parts[1]).\(Self.fileExtension(of: shown))"
  }

  /// Reads the end of an address; nil if it is invalid.
  init?(path: Substring) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let use = Use(rawValue: String(parts[0])) else { return nil }
    let texts = [parts[1], parts[2].prefix { $0 != "." }].map { part in
      part.isEmpty ? nil : Base64.decode(String(part)).flatMap { String(validating: $0, as: UTF8.self) }
    }
    self.init(use: use, original: texts[0], thumbnail: texts[1])
    guard use == .thumbnail ? original == nil && thumbnail != nil : original != nil else { return nil }
  }

  private static func fileExtension(of url: String) -> String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    let name = path[(path.lastIndex(of: "/") ?? path.startIndex)...]
    let known = ImageFormat.all.map(\.fileEnding) + ["jpeg"]
    guard let dot = name.lastIndex(of: ".") else { return "jpg" }
    let found = name[name.index(after: dot)...].lowercased()
    return known.contains(found) ? found : "jpg"
  }
}

import FeedimgJSON
package import FeedimgModel

/// Replaces the addresses of pictures in a feed, and keeps all other bytes.
///
/// It reads enclosures, Media RSS, the images of podcasts and channels, and HTML. Links and texts that name a
/// picture stay.
package struct FeedRewriter {
  /// The new address of a picture; nil to keep the old one.
  ///
  /// The policy may replace the original with the thumbnail. Without an original, the thumbnail is shown.
  package typealias Address = (_ original: String?, _ thumbnail: String?) -> String?

  private let base: ImageURL
  private let address: Address

  /// - Parameters:
  ///   - base: The address of the feed, to which its relative URLs refer.
  ///   - address: The new address of a picture, in characters that neither XML nor JSON escapes.
  package init(base: ImageURL, address: @escaping Address) {
    self.base = base
    self.address = address
  }

  /// The feed with new addresses.
  ///
  /// UTF-16 and the encodings that extend ASCII are supported.
  ///
  /// - Returns: Nil for a document without pictures, for one that is not a well-formed feed, and for other encodings.
  package func rewritten(_ document: [UInt8]) -> [UInt8]? {
    guard let format = FeedFormat(detecting: document), [.rss, .atom, .jsonFeed].contains(format),
      let feed = try? FeedReader(format: format, base: base).read(document)
    else { return nil }
    let pictures = FeedPictures(feed.items, address)
    if format == .jsonFeed { return JSONFeedEdits.edits(of: document, base, pictures).applied(to: document) }
    let encoding = MarkupEncoding(of: document)
    func edited(_ document: [UInt8], isUTF8: Bool = true) -> [UInt8]? {
      XMLFeedEdits.edits(of: document, base, pictures, isUTF8: isUTF8).applied(to: document)
    }
    switch encoding.name {
    case "UTF-8": return edited(document)
    case "UTF-16LE", "UTF-16BE":
      let isLittle = encoding.name == "UTF-16LE"
      let units = MarkupEncoding.units(of: document, isLittle: isLittle)
      guard document.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self),
        let changed = edited(Array(text.utf8))
      else { return nil }
      return String(decoding: changed, as: UTF8.self).utf16.flatMap { unit in
        let (low, high) = (UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8))
        return isLittle ? [low, high] : [high, low]
      }
    case let name where Self.extendsASCII(name): return edited(document, isUTF8: false)
    default: return nil
    }
  }

  /// The URL of a reference; nil if it is not of http or https.
  package static func absolute(_ reference: String, base: ImageURL) -> String? {
    URLReference.url(reference, base: base.text)?.text
  }

  /// Whether the bytes of markup mean the same characters in an encoding as in ASCII.
  private static func extendsASCII(_ name: String) -> Bool {
    let known = ["iso-8859", "windows-", "cp125", "koi8", "euc", "gb", "big5", "shift_jis", "sjis"]
    return known.contains { name.lowercased().hasPrefix($0) }
  }
}

/// The pictures of a feed by the addresses of their versions.
struct FeedPictures {
  private var versions: [String: (original: String?, thumbnail: String?)] = [:]
  private let address: FeedRewriter.Address

  init(_ items: [FeedItem], _ address: @escaping FeedRewriter.Address) {
    self.address = address
    for item in items {
      let thumbnail = item.thumbnail?.url
      for version in [item.original].compactMap(\.self) + item.sizes where version.url != thumbnail {
        versions[version.url.key] = (version.url.text, thumbnail?.text)
      }
      if let thumbnail, versions[thumbnail.key] == nil { versions[thumbnail.key] = (nil, thumbnail.text) }
    }
  }

  /// The new address of a version of a picture, at the place of a thumbnail or another; nil to keep it.
  func address(of reference: String, base: String?, isThumbnail: Bool) -> String? {
    guard let url = URLReference.url(reference, base: base) else { return nil }
    if isThumbnail { return address(nil, url.text) }
    guard let known = versions[url.key] else { return address(url.text, nil) }
    return address(known.original, known.thumbnail)
  }
}

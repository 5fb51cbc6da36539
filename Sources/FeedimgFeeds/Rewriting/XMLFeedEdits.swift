import FeedimgModel

/// The replacements in RSS, RDF and Atom.
struct XMLFeedEdits {
  /// An element that has not ended.
  private struct Open {
    var name: String
    var base: String?
    /// The meaning of the text, if it has one, and the text so far.
    var content: (kind: Content, text: PlacedText)?
  }

  private enum Content {
    case html
    /// The address of a picture of the whole feed.
    case address
  }

  private let document: [UInt8]
  private var open: [Open] = []
  private var edits: PictureEdits
  private let base: String
  /// The prefixes of Media RSS.
  private var mediaPrefixes: Set<String> = ["media"]

  private init(_ document: [UInt8], _ base: ImageURL, _ edits: PictureEdits) {
    (self.document, self.base, self.edits) = (document, base.text, edits)
  }

  /// The replacements in a well-formed feed whose encoding extends ASCII.
  static func edits(
    of document: [UInt8],
    _ base: ImageURL,
    _ pictures: FeedPictures,
    isUTF8: Bool
  ) -> DocumentEdits {
    var walk = XMLFeedEdits(document, base, PictureEdits(pictures, isUTF8: isUTF8))
    var scanner = MarkupScanner(document, isXML: true)
    while let token = scanner.next() { walk.take(token) }
    return walk.edits.edits
  }

  private mutating func take(_ token: MarkupScanner.Token) {
    switch token {
    case .tag(let tag) where tag.isEnd: end()
    case .tag(let tag):
      start(tag)
      if tag.isEmpty { end() }
    case .text(let range) where open.last?.content != nil:
      open[open.count - 1].content?.text += PlacedText(document, range).decodingReferences()
    case .literal(let range) where open.last?.content != nil:
      open[open.count - 1].content?.text += PlacedText(document, range)
    case .text, .literal: break
    }
  }

  private mutating func end() {
    guard let element = open.popLast(), let (kind, text) = element.content else { return }
    switch kind {
    case .html: edits.replace(html: text, base: element.base)
    case .address: edits.replace(text, base: element.base, isThumbnail: true)
    }
  }

  private mutating func start(_ tag: MarkupTag) {
    let attributes = tag.attributes.map { (name: $0.name, value: PlacedText(document, $0.value)) }
    for attribute in attributes where attribute.name.hasPrefix("xmlns:") {
      let namespace = String(decoding: attribute.value.bytes, as: UTF8.self)
      if namespace.contains("search.yahoo.com/mrss") {
        mediaPrefixes.insert(String(attribute.name.dropFirst(6)))
      }
    }
    let base = URLReference.base(attributes.text("xml:base"), outer: open.last.map(\.base) ?? base)
    let content = content(of: tag.name, attributes)
    open.append(Open(name: tag.name, base: base, content: content.map { ($0, PlacedText()) }))
    replaceAttributes(tag.name, attributes, base: base)
  }

  private var isInEntry: Bool { open.contains { $0.name == "item" || $0.name == "entry" } }

  private func content(of name: String, _ attributes: [MarkupAttribute]) -> Content? {
    switch name {
    case "description", "content:encoded", "encoded": isInEntry ? .html : nil
    case "content", "summary":
      isInEntry && attributes.text("type")?.lowercased().contains("html") == true ? .html : nil
    case "url": open.last?.name == "image" ? .address : nil
    case "icon", "logo": isInEntry ? nil : .address
    default: nil
    }
  }

  private mutating func replaceAttributes(
    _ name: String,
    _ attributes: [MarkupAttribute],
    base: String?
  ) {
    func value(_ name: String) -> PlacedText { attributes.first { $0.name == name }?.value ?? PlacedText() }
    func replace(_ attribute: String, isThumbnail: Bool = false) {
      edits.replace(value(attribute).decodingReferences(), base: base, isThumbnail: isThumbnail)
    }
    let type = attributes.text("type")?.nonBlank?.lowercased()
    let medium = attributes.text("medium")?.nonBlank?.lowercased()
    let isImage = type?.hasPrefix("image/") == true
    let parts = name.split(separator: ":", maxSplits: 1)
    let prefix = parts.count == 2 ? String(parts[0]) : ""
    switch (prefix, parts.last ?? "") {
    case ("", "enclosure"): if isImage { replace("url") }
    case ("", "link"): if isImage, attributes.text("rel") == "enclosure" { replace("href") }
    case ("itunes", "image"), ("googleplay", "image"): replace("href", isThumbnail: true)
    case (_, "content") where mediaPrefixes.contains(prefix):
      if medium == "image" || medium == nil && isImage { replace("url") }
    case (_, "thumbnail") where mediaPrefixes.contains(prefix): replace("url", isThumbnail: true)
    // XHTML, in which a prefix may stand for its namespace.
    case (_, let local): edits.replace(String(local), attributes, base: base)
    }
  }
}

import FeedimgModel

/// Splits an RSS or Atom document into its entries, and keeps one of them in memory at a time.
final class XMLFeed: MarkupHandling {
  /// The formats in XML.
  enum Format {
    case rss
    case atom
  }

  /// The elements of the entry that is being read, from the entry to the innermost one.
  private var open: [XMLNode] = []
  /// The number of open elements around entries, such as `rss` and `channel`.
  private var level = 0
  /// The values of `xml:base` of those elements, resolved.
  private var bases: [String?]
  /// The bytes of the entry so far, roughly.
  private var length = 0
  private var feed: FeedBuilder
  private let isBaseGiven: Bool
  private let format: Format
  /// The name of the root if it is the root of another format.
  private var otherRoot: String?

  private init(_ format: Format, _ feed: FeedBuilder) {
    self.format = format
    self.feed = feed
    isBaseGiven = feed.base != nil
    bases = [feed.base]
  }

  /// Reads a document.
  ///
  /// - Throws: ``FeedError`` for a document that is not well-formed or has the root of another format.
  static func read(_ bytes: [UInt8], _ format: Format, _ feed: inout FeedBuilder) throws(FeedError) {
    let reader = XMLFeed(format, feed)
    try MarkupParser.parse(bytes, as: .xml, in: MarkupEncoding(of: bytes), reader)
    if let root = reader.otherRoot {
      let expected = format == .rss ? "`rss`" : "`feed`"
      throw FeedError(.otherFormat, "expected the element \(expected), found `\(root)`")
    }
    feed = reader.feed
  }

  func start(_ element: MarkupElement) {
    let outer = open.last?.base ?? bases.last ?? nil
    let base = URLReference.base(element.attributes["xml:base"], outer: outer)
    if level == 0, open.isEmpty {
      let name = element.name.lowercased()
      let isExpected = format == .rss ? ["rss", "rdf"].contains(name) : ["feed", "entry"].contains(name)
      if !isExpected { otherRoot = element.name }
    }
    guard otherRoot == nil else { return }
    let isOutside = open.isEmpty && (level == 0 || element.name == "channel") && element.name != "entry"
    if isOutside {
      level += 1
      return bases.append(base)
    }
    let node = XMLNode(element, base: base)
    length += node.length
    if length <= FeedLimits.entryLength { open.last?.children.append(node) }
    open.append(node)
  }

  func end() {
    guard otherRoot == nil else { return }
    guard let node = open.popLast() else {
      level -= 1
      bases.removeLast()
      return
    }
    guard open.isEmpty else { return }
    defer { length = 0 }
    switch node.name {
    case "item" where format == .rss: read(node, RSS.read)
    case "entry" where format == .atom: read(node, Atom.read)
    case "link" where !isBaseGiven: useAsBase(node)
    default: break
    }
  }

  func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let node = open.last, otherRoot == nil else { return }
    length += bytes.count
    if length <= FeedLimits.entryLength { node.bytes += bytes }
  }

  private func read(_ node: XMLNode, _ read: (XMLNode, inout Entry) -> Void) {
    let id = ["guid", "id"].lazy.compactMap { node.child($0)?.text.nonBlank }.first
    feed.entry(id) { entry in
      guard length <= FeedLimits.entryLength else {
        return entry.report(nil, "longer than the limit of \(FeedLimits.entryLength >> 20) MiB")
      }
      read(node, &entry)
    }
  }

  /// Uses the address of the site as base, as readers do if they do not know the address of the feed.
  private func useAsBase(_ link: XMLNode) {
    let isOther = link.attributes["rel"].map { $0 != "self" && $0 != "alternate" } ?? false
    guard bases.last == .some(nil), !isOther,
      let base = URLReference.base(link.attributes["href"] ?? link.text, outer: nil),
      let url = try? ImageURL(base)
    else { return }
    bases = bases.map { $0 ?? url.text }
  }
}

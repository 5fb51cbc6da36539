import FeedimgModel

/// The pictures of HTML: a page, or a fragment in a feed.
final class HTMLPage: MarkupHandling {
  private var entry: Entry
  private let id: String?
  private let page: String?
  private var hasBase = false
  private var imageCount = 0
  /// The open elements, because libxml2 names none at its end.
  private var names: [String] = []
  /// The candidates of the first `source` of a `picture` for every screen.
  private var source: [ImageCandidate] = []
  /// The pictures of `og:image`, which precede those of the body.
  private var openGraph: [Picture] = []

  private init(_ entry: Entry, id: String?, page: String?) {
    self.entry = entry
    self.id = id
    self.page = page
  }

  /// Reads a page, which is one entry.
  static func read(_ bytes: [UInt8], _ feed: inout FeedBuilder) throws(FeedError) {
    let page = feed.base
    try feed.entry(nil) { entry throws(FeedError) in
      let reader = HTMLPage(entry, id: nil, page: page)
      try MarkupParser.parse(bytes, as: .html, in: MarkupEncoding(of: bytes), reader)
      entry = reader.finished()
    }
  }

  /// Reads the HTML in an element of a feed: as text, or as elements of XHTML.
  static func read(_ element: XMLNode, id: String?, page: String?, _ entry: inout Entry) {
    let reader = HTMLPage(entry, id: id, page: page)
    for child in element.children { reader.replay(child) }
    // Text without a tag has no picture.
    if element.bytes.contains(UInt8(ascii: "<")) {
      do throws(FeedError) {
        try MarkupParser.parse(element.bytes, as: .html, in: MarkupEncoding(name: "UTF-8"), reader)
      } catch {
        reader.entry.report(element.name, error.message)
      }
    }
    entry = reader.finished()
  }

  private func replay(_ node: XMLNode) {
    start(MarkupElement(name: node.name, attributes: node.attributes))
    for child in node.children { replay(child) }
    end()
  }

  private func finished() -> Entry {
    addOpenGraph()
    return entry
  }

  // MARK: Elements

  func start(_ element: MarkupElement) {
    names.append(element.name)
    let attributes = element.attributes
    switch element.name {
    case "base": useAsBase(attributes["href"])
    case "meta":
      readOpenGraph((attributes["property"] ?? attributes["name"])?.nonBlank, attributes["content"])
    case "picture": source = []
    case "source" where names.contains("picture") && source.isEmpty && attributes["media"]?.nonBlank == nil:
      source = ImageCandidate.candidates(in: attributes["srcset"] ?? "")
    case "img": readImage(attributes)
    case "video": readVideo(attributes["poster"])
    default: break
    }
  }

  func end() {
    if names.popLast() == "picture" { source = [] }
  }

  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}

  /// Only the first `base` counts (HTML §4.2.3).
  private func useAsBase(_ reference: String?) {
    guard !hasBase, reference?.nonBlank != nil else { return }
    hasBase = true
    entry.base = URLReference.base(reference, outer: entry.base)
  }

  private func readImage(_ attributes: [String: String]) {
    addOpenGraph()
    imageCount += 1
    // A picture of one pixel counts visits.
    guard attributes["width"]?.nonBlank != "1" || attributes["height"]?.nonBlank != "1" else { return }
    var candidates = ImageCandidate.candidates(in: attributes["srcset"] ?? "")
    if candidates.isEmpty { candidates = source }
    // The sources of a `picture` belong to its first image.
    source = []
    let place = "img[\(imageCount)]"
    let sized = candidates.filter { $0.width != nil }
    let versions = sized.compactMap { candidate in
      entry.url(candidate.url, "\(place) srcset", ignoresOtherSchemes: true).map {
        ImageVariant(role: .thumbnail, url: $0, width: candidate.width)
      }
    }
    var picture = Picture(id: id, alternativeText: attributes["alt"]?.nonBlank, page: page)
    if !picture.take(versions) {
      let url =
        entry.url(attributes["src"], "\(place) src", ignoresOtherSchemes: true) ?? densest(candidates, place)
      picture.original = url.map { ImageVariant(role: .original, url: $0) }
    }
    entry.add(picture)
  }

  /// The candidate for the densest screen, for an image without `src`.
  private func densest(_ candidates: [ImageCandidate], _ place: String) -> ImageURL? {
    let best = candidates.filter { $0.width == nil }.max { $0.density < $1.density }
    return entry.url(best?.url, "\(place) srcset", ignoresOtherSchemes: true)
  }

  private func readVideo(_ poster: String?) {
    addOpenGraph()
    let url = entry.url(poster, "video poster", ignoresOtherSchemes: true)
    var picture = Picture(kind: .poster, id: id, page: page)
    picture.add(thumbnail: url.map { ImageVariant(role: .thumbnail, url: $0) })
    entry.add(picture)
  }

  // MARK: Open Graph (ogp.me)

  private func readOpenGraph(_ property: String?, _ content: String?) {
    switch property?.lowercased() {
    case "og:image", "og:image:url":
      let url = entry.url(content, "og:image", ignoresOtherSchemes: true)
      guard let url, openGraph.last?.original?.url.key != url.key else { return }
      openGraph.append(Picture(id: id, page: page, original: ImageVariant(role: .original, url: url)))
    case "og:image:width":
      updateOpenGraph { $0.original?.width = content?.nonBlank.flatMap { Int($0) }?.positive }
    case "og:image:height":
      updateOpenGraph { $0.original?.height = content?.nonBlank.flatMap { Int($0) }?.positive }
    case "og:image:type": updateOpenGraph { $0.original?.mediaType = content?.nonBlank }
    case "og:image:alt": updateOpenGraph { $0.alternativeText = content?.nonBlank }
    default: break
    }
  }

  /// Changes the latest picture, to which the properties after `og:image` belong.
  private func updateOpenGraph(_ change: (inout Picture) -> Void) {
    guard !openGraph.isEmpty else { return }
    change(&openGraph[openGraph.count - 1])
  }

  private func addOpenGraph() {
    for picture in openGraph { entry.add(picture) }
    openGraph = []
  }
}

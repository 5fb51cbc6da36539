import FeedimgModel

/// Entries of RSS 0.9, 1.0 and 2.0 and of Atom (RFC 4287): enclosures, Media RSS, and the pictures of HTML and
/// XHTML.
enum Syndication {
  static func read(_ element: XMLNode, _ entry: inout Entry) {
    let links = element.children.filter { $0.name == "link" && !$0.isMedia }
    let link = links.first { ["alternate", nil].contains($0.attributes["rel"]) }
    let page = link.flatMap { $0.text.nonBlank ?? $0.attributes["href"]?.nonBlank }
    var media = MediaRSS(id: element.identifier, page: page)
    for child in element.children {
      entry.base = child.base
      let isHTML = child.attributes["type"]?.lowercased().contains("html") == true
      switch child.name {
      case _ where child.isMedia: media.read(child, &entry)
      case "enclosure": media.readEnclosure(child, "url", &entry)
      case "link" where child.attributes["rel"] == "enclosure": media.readEnclosure(child, "href", &entry)
      case "description", "encoded": HTMLPage.read(child, id: media.id, page: page, &entry)
      case "content" where isHTML, "summary" where isHTML:
        HTMLPage.read(child, id: media.id, page: page, &entry)
      default: break
      }
    }
    media.finish(&entry)
  }
}

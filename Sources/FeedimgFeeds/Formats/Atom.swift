import FeedimgModel

/// Entries of Atom (RFC 4287): enclosures, Media RSS and the pictures of HTML and XHTML.
enum Atom {
  static func read(_ element: XMLNode, _ entry: inout Entry) {
    let id = element.child("id")?.text.nonBlank
    let links = element.children.filter { $0.name == "link" && !$0.isMedia }
    let page = links.first { ["alternate", nil].contains($0.attributes["rel"]) }?.attributes["href"]?.nonBlank
    var media = MediaRSS(id: id, page: page)
    for child in element.children {
      entry.base = child.base
      if child.isMedia {
        media.read(child, &entry)
      } else if child.name == "link", child.attributes["rel"] == "enclosure" {
        media.readEnclosure(child, "href", &entry)
      } else if ["content", "summary"].contains(child.name),
        child.attributes["type"]?.lowercased().contains("html") == true
      {
        HTMLPage.read(child, id: id, page: page, &entry)
      }
    }
    media.finish(&entry)
  }
}

import FeedimgModel

/// Items of RSS 0.9, 1.0 and 2.0: enclosures, Media RSS and the pictures of HTML.
enum RSS {
  static func read(_ item: XMLNode, _ entry: inout Entry) {
    let id = (item.child("guid")?.text ?? item.attributes["rdf:about"] ?? "").nonBlank
    let page = item.child("link")?.text.nonBlank
    var media = MediaRSS(id: id, page: page)
    for child in item.children {
      entry.base = child.base
      if child.isMedia {
        media.read(child, &entry)
      } else if child.name == "enclosure" {
        media.readEnclosure(child, "url", &entry)
      } else if ["description", "encoded"].contains(child.name) {
        HTMLPage.read(child, id: id, page: page, &entry)
      }
    }
    media.finish(&entry)
  }
}

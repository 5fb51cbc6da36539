import FeedimgJSON
import FeedimgModel

/// The replacements in a JSON Feed.
enum JSONFeedEdits {
  static func edits(of document: [UInt8], _ base: ImageURL, _ pictures: FeedPictures) -> DocumentEdits {
    var edits = PictureEdits(pictures)
    guard let feed = try? JSONNode.read(document) else { return edits.edits }
    func string(_ node: JSONNode?) -> PlacedText? {
      guard let node, node.text != nil else { return nil }
      return PlacedText(document, node.range.lowerBound + 1..<node.range.upperBound - 1).decodingEscapes()
    }
    func replace(_ node: JSONNode?, isThumbnail: Bool = false) {
      string(node).map { edits.replace($0, base: base.text, isThumbnail: isThumbnail) }
    }
    func replaceAvatars(in object: JSONNode) {
      for author in [object["author"]].compactMap(\.self) + (object["authors"]?.elements ?? []) {
        replace(author["avatar"], isThumbnail: true)
      }
    }
    replace(feed["icon"], isThumbnail: true)
    replace(feed["favicon"], isThumbnail: true)
    replaceAvatars(in: feed)
    for item in feed["items"]?.elements ?? [] {
      replace(item["image"])
      replace(item["banner_image"])
      replaceAvatars(in: item)
      for attachment in item["attachments"]?.elements ?? []
      where attachment["mime_type"]?.text?.lowercased().hasPrefix("image/") == true {
        replace(attachment["url"])
      }
      string(item["content_html"]).map { edits.replace(html: $0, base: base.text) }
    }
    return edits.edits
  }
}

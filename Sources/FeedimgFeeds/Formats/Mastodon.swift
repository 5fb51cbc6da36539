import FeedimgJSON
import FeedimgModel

/// Entities of the Mastodon client API, also from Pleroma, Akkoma and Pixelfed.
///
/// Reads statuses, accounts and custom emoji: one, a list, or the lists of a search or a thread.
enum Mastodon {
  /// Pixelfed's BlurHash of a picture without one (its `MediaTransformer`).
  private static let unknownBlurHash = "U4Rfzst8?bt7ogayj[j[~pfQ9Goe%Mj[WBay"

  static func read(_ document: JSONValue, _ feed: inout FeedBuilder) {
    var lists: [JSONValue] = []
    for name in ["ancestors", "descendants", "statuses"] {
      if let list = document[name], case .array = list { lists.append(list) }
    }
    for list in lists.isEmpty ? [document] : lists { feed.entries(in: list, readEntity) }
  }

  private static func readEntity(_ entity: JSONValue, _ entry: inout Entry) {
    if let boosted = entity["reblog"] {
      readEntity(boosted, &entry)
    } else if entity["media_attachments"] != nil {
      let page = entity["url"]?.text
      for (attachment, place) in entry.objects(entity, "media_attachments") {
        read(attachment, in: place, page: page, &entry)
      }
    } else if let status = entity["status"] ?? entity["last_status"] {
      // Notifications and conversations.
      readEntity(status, &entry)
    } else if entity["acct"] != nil, entity["avatar"] != nil {
      readIcon(.avatar, "avatar", entity, entity["acct"]?.text, &entry)
    } else if entity["shortcode"] != nil {
      readIcon(.emoji, "url", entity, entity["shortcode"]?.text, &entry)
    } else if entity["account"] == nil, entity["accounts"] == nil {
      entry.report(nil, "expected a status, found an object without `media_attachments`")
    }
  }

  private static func read(_ attachment: JSONValue, in place: String, page: String?, _ entry: inout Entry) {
    let type = attachment["type"]?.text?.lowercased()
    let meta = attachment["meta"]
    let url = attachment["url"]
    var picture = Picture(id: attachment.identifier, page: page)
    picture.alternativeText = attachment["description"]?.text?.nonBlank
    if type == "image" {
      picture.original = entry.variant(.original, attachment, "url", in: place, size: meta?["original"])
      picture.original?.mediaType = attachment["mime"]?.text
    } else if ["audio", "gifv", "video"].contains(type) {
      picture.kind = .poster
    }
    for name in ["preview_url", "optimized_url"] where attachment[name] != url || type == "image" {
      let size = name == "preview_url" ? meta?["small"] : nil
      picture.add(thumbnail: entry.variant(.thumbnail, attachment, name, in: place, size: size))
    }
    let hash = attachment["blurhash"]?.text?.nonBlank
    picture.placeholder = Placeholder(
      blurHash: hash == unknownBlurHash ? nil : hash,
      color: meta?["colors"]?["background"]?.text.flatMap(color)
    )
    entry.add(picture)
  }

  /// An image that users see only in a small size.
  private static func readIcon(
    _ kind: FeedItem.Kind,
    _ member: String,
    _ entity: JSONValue,
    _ name: String?,
    _ entry: inout Entry
  ) {
    guard let icon = entry.variant(.thumbnail, entity, member) else { return }
    entry.add(
      Picture(kind: kind, id: entity.identifier ?? name, alternativeText: name, thumbnails: [icon])
    )
  }

  /// The colour if it has the form `#rrggbb`, the only one that items have.
  private static func color(_ text: String) -> String? {
    let isColor = text.count == 7 && text.first == "#" && text.dropFirst().allSatisfy(\.isHexDigit)
    return isColor && text.utf8.count == 7 ? text : nil
  }
}

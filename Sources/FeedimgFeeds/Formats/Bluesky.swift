import FeedimgJSON
import FeedimgModel

/// Views of the Bluesky API (`app.bsky.feed`): posts, feeds, threads and profiles.
///
/// The record of a post names blobs without URLs, so only the views of its embeds count. They give the aspect
/// ratio of a picture and not its size.
enum Bluesky {
  static func read(_ document: JSONText, _ feed: inout FeedBuilder) throws(JSONError) {
    for name in ["feed", "posts", "profiles", "actors", "followers", "follows", "thread"] {
      if let list = try document.member(name) { return try feed.entries(in: list, readView) }
    }
    try feed.entries(in: document, readView)
  }

  private static func readView(_ view: JSONValue, _ entry: inout Entry) {
    if let post = view["post"] {
      readView(post, &entry)
      for (reply, _) in entry.objects(view, "replies") { readView(reply, &entry) }
    } else if view["embed"] != nil || view["record"] != nil {
      let id = view["uri"]?.text
      if let embed = view["embed"] { read(embed, in: "embed.", id: id, &entry) }
    } else if view["handle"] != nil {
      let avatar = entry.variant(.thumbnail, entry.text(view, "avatar"), "avatar")
      let name = view["handle"]?.text
      entry.add(
        Picture(
          kind: .avatar,
          id: view["did"]?.text,
          alternativeText: name,
          thumbnails: [avatar].compactMap { $0 }
        )
      )
    } else if view["notFound"] == nil, view["blocked"] == nil {
      entry.report(nil, "expected a post, found an object without `post`, `embed` or `record`")
    }
  }

  private static func read(_ embed: JSONValue, in place: String, id: String?, _ entry: inout Entry) {
    // `media` is an embed in recordWithMedia, whose quoted `record` is another post, and a list in a gallery.
    if let media = embed["media"], case .object = media {
      return read(media, in: place + "media.", id: id, &entry)
    }
    for (list, thumbnail) in [("images", "thumb"), ("media", "thumbnail")] {
      for (image, place) in entry.objects(embed, list, in: place) {
        let fullSize = entry.text(image, "fullsize", in: place)
        let small = entry.text(image, thumbnail, in: place)
        var picture = Picture(id: id, alternativeText: image["alt"]?.text?.nonBlank)
        picture.original = entry.variant(.original, fullSize, place + "fullsize")
        picture.thumbnails = [entry.variant(.thumbnail, small, place + thumbnail)].compactMap { $0 }
        entry.add(picture)
      }
    }
    if let card = embed["external"] {
      let text = entry.text(card, "thumb", in: place + "external.")
      let small = entry.variant(.thumbnail, text, place + "external.thumb")
      entry.add(Picture(id: id, page: card["uri"]?.text, thumbnails: [small].compactMap { $0 }))
    }
    if embed["playlist"] != nil {
      let small = entry.variant(.thumbnail, entry.text(embed, "thumbnail", in: place), place + "thumbnail")
      let text = embed["alt"]?.text?.nonBlank
      entry.add(
        Picture(kind: .poster, id: id, alternativeText: text, thumbnails: [small].compactMap { $0 })
      )
    }
  }
}

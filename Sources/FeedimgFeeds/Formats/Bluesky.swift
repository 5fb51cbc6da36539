import FeedimgJSON
import FeedimgModel

/// Views of the Bluesky API (`app.bsky.feed`): posts, feeds, threads and profiles.
///
/// The record of a post names blobs without URLs, so only the views of its embeds count. They give the aspect
/// ratio of a picture and not its size.
enum Bluesky {
  static func read(_ document: JSONValue, _ feed: inout FeedBuilder) {
    let names = ["feed", "posts", "profiles", "actors", "followers", "follows", "thread"]
    feed.entries(in: names.lazy.compactMap { document[$0] }.first ?? document, readView)
  }

  private static func readView(_ view: JSONValue, _ entry: inout Entry) {
    if let post = view["post"] {
      readView(post, &entry)
      for (reply, _) in entry.objects(view, "replies") { readView(reply, &entry) }
    } else if view["embed"] != nil || view["record"] != nil {
      let id = view["uri"]?.text
      if let embed = view["embed"] { read(embed, in: "embed.", id: id, &entry) }
    } else if view["handle"] != nil {
      var picture = Picture(kind: .avatar, id: view["did"]?.text, alternativeText: view["handle"]?.text)
      picture.add(thumbnail: entry.variant(.thumbnail, view, "avatar"))
      entry.add(picture)
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
        var picture = Picture(id: id, alternativeText: image["alt"]?.text?.nonBlank)
        picture.original = entry.variant(.original, image, "fullsize", in: place)
        picture.add(thumbnail: entry.variant(.thumbnail, image, thumbnail, in: place))
        entry.add(picture)
      }
    }
    if let card = embed["external"] {
      var picture = Picture(id: id, page: card["uri"]?.text)
      picture.add(thumbnail: entry.variant(.thumbnail, card, "thumb", in: place + "external."))
      entry.add(picture)
    }
    if embed["playlist"] != nil {
      var picture = Picture(kind: .poster, id: id, alternativeText: embed["alt"]?.text?.nonBlank)
      picture.add(thumbnail: entry.variant(.thumbnail, embed, "thumbnail", in: place))
      entry.add(picture)
    }
  }
}

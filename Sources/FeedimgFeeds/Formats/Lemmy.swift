import FeedimgJSON
import FeedimgModel

/// Post views of the Lemmy API: one, or a list.
enum Lemmy {
  static func read(_ document: JSONValue, _ feed: inout FeedBuilder) {
    feed.entries(in: document["posts"] ?? document["items"] ?? document["post_view"] ?? document, readView)
  }

  private static func readView(_ view: JSONValue, _ entry: inout Entry) {
    guard let post = view["post"] else {
      return entry.report(nil, "expected a post view, found an object without `post`")
    }
    let type = post["url_content_type"]?.text?.lowercased() ?? ""
    var picture = Picture(id: post.identifier, alternativeText: post["alt_text"]?.text?.nonBlank)
    picture.page = post["ap_id"]?.text
    if type.hasPrefix("image/") {
      picture.original = entry.variant(.original, post, "url", in: "post.")
      picture.original?.mediaType = type
    } else if type.hasPrefix("video/") || type.hasPrefix("audio/") {
      picture.kind = .poster
    }
    // Lemmy joins the details on the link of the thumbnail, so that they are not those of the original.
    let details = view["image_details"]
    picture.add(thumbnail: entry.variant(.thumbnail, post, "thumbnail_url", in: "post.", size: details))
    picture.placeholder.blurHash = details?["blurhash"]?.text?.nonBlank
    entry.add(picture)
  }
}

import FeedimgJSON
import FeedimgModel

/// Listings of the Reddit API, with pictures, galleries and links.
enum Reddit {
  static func read(_ document: JSONValue, _ feed: inout FeedBuilder) {
    var listings = [document]
    // The comments of a post are two listings.
    if case .array(let elements) = document { listings = elements }
    for listing in listings { feed.entries(in: listing["data"]?["children"] ?? listing, readThing) }
  }

  private static func readThing(_ thing: JSONValue, _ entry: inout Entry) {
    // A thing of another kind, such as a comment (`t1`), has no pictures.
    if let kind = thing["kind"]?.text, kind != "t3" { return }
    let data = thing["data"] ?? thing
    guard data["url"] != nil || data["permalink"] != nil || data["title"] != nil else {
      return entry.report(nil, "expected a post, found an object without `url`")
    }
    // A crosspost stands for the other post.
    var post = data
    if case .array(let parents)? = data["crosspost_parent_list"], let parent = parents.first { post = parent }
    let page = data["permalink"]?.text.map { URLReference.resolve($0, base: "https://www.reddit.com/") }
    if post["gallery_data"] != nil {
      readGallery(post, page, &entry)
    } else {
      readPreview(post, page, &entry)
    }
  }

  private static func readGallery(_ post: JSONValue, _ page: String?, _ entry: inout Entry) {
    guard let gallery = post["gallery_data"], let metadata = post["media_metadata"] else { return }
    for (element, _) in entry.objects(gallery, "items", in: "gallery_data.") {
      // A picture that Reddit has not processed yet, or not at all, has no URLs.
      guard let id = element["media_id"]?.text, let media = metadata[id], let source = media["s"] else {
        continue
      }
      let place = "media_metadata.\(id)."
      let member = source["u"] == nil ? "gif" : "u"
      var picture = Picture(id: id, alternativeText: element["caption"]?.text?.nonBlank, page: page)
      picture.original = variant(.original, source, member, "x", "y", in: place + "s.", &entry)
      picture.original?.mediaType = media["m"]?.text
      for (size, place) in entry.objects(media, "p", in: place) {
        picture.add(thumbnail: variant(.thumbnail, size, "u", "x", "y", in: place, &entry))
      }
      if picture.original == nil { picture.kind = .poster }
      entry.add(picture)
    }
  }

  private static func readPreview(_ post: JSONValue, _ page: String?, _ entry: inout Entry) {
    var picture = Picture(id: post.identifier, page: page)
    let preview = entry.objects(post["preview"] ?? .null, "images", in: "preview.").first
    if let url = text(post, "url", &entry), url.contains("://i.redd.it/") {
      let (width, height) = (
        preview?.0["source"]?["width"]?.integer, preview?.0["source"]?["height"]?.integer
      )
      picture.original = entry.variant(.original, url, "url", width: width, height: height)
    }
    for (size, place) in preview.map({ entry.objects($0.0, "resolutions", in: $0.1) }) ?? [] {
      picture.add(thumbnail: variant(.thumbnail, size, "url", "width", "height", in: place, &entry))
    }
    // `thumbnail` may also be a word, such as `self` or `nsfw`.
    if picture.thumbnails.isEmpty, post["thumbnail"]?.text?.hasPrefix("http") == true {
      let (width, height) = ("thumbnail_width", "thumbnail_height")
      picture.add(thumbnail: variant(.thumbnail, post, "thumbnail", width, height, in: "", &entry))
    }
    let isVideo = post["is_video"] == true || post["post_hint"]?.text?.hasSuffix(":video") == true
    if isVideo, picture.original == nil { picture.kind = .poster }
    entry.add(picture)
  }

  private static func variant(
    _ role: ImageVariant.Role,
    _ value: JSONValue,
    _ name: String,
    _ width: String,
    _ height: String,
    in place: String,
    _ entry: inout Entry
  ) -> ImageVariant? {
    entry.variant(
      role,
      text(value, name, in: place, &entry),
      place + name,
      width: value[width]?.integer,
      height: value[height]?.integer
    )
  }

  /// A URL, in which Reddit writes `&` as `&amp;` unless the request has `raw_json=1`.
  private static func text(
    _ value: JSONValue,
    _ name: String,
    in place: String = "",
    _ entry: inout Entry
  ) -> String? {
    entry.text(value, name, in: place)?.replacing("&amp;", with: "&")
  }
}

import FeedimgJSON

/// Replaces the addresses of pictures in a document of the Mastodon client API.
///
/// It recognises the entities by their members, wherever they occur.
struct MastodonDocument {
  /// The new address of a picture; nil to keep the old one.
  let address: (GatewayPicture) -> String?

  /// The document with its new addresses; nil if it has no picture or is not JSON.
  func rewritten(_ bytes: [UInt8]) -> [UInt8]? {
    guard let value = try? JSONReader.value(in: bytes) else { return nil }
    let result = rewritten(value)
    return result == value ? nil : Array(result.text(.compact).utf8)
  }

  private func rewritten(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map(rewritten))
    case .object(let object):
      let pictures = pictures(in: object)
      var result = JSONObject()
      for member in object.members {
        let new = pictures[member.name].flatMap(address).map(JSONValue.string)
        result.append(member.name, new ?? rewritten(member.value))
      }
      return .object(result)
    default: return value
    }
  }

  /// The pictures of an entity by the member that has their address.
  private func pictures(in object: JSONObject) -> [String: GatewayPicture] {
    func text(_ name: String) -> String? { object[name]?.text.flatMap { $0.isEmpty ? nil : $0 } }
    var pictures: [String: GatewayPicture] = [:]
    func add(_ names: [String], _ picture: (String) -> GatewayPicture) {
      for name in names { if let url = text(name) { pictures[name] = picture(url) } }
    }
    if object["acct"] != nil || object["username"] != nil {
      add(["avatar", "avatar_static", "header", "header_static"]) { .thumbnail($0) }
    }
    if object["shortcode"] != nil { add(["url", "static_url"]) { .thumbnail($0) } }
    if object["provider_name"] != nil { add(["image"]) { .thumbnail($0) } }
    if object["preview_url"] != nil, let type = text("type") {
      if type == "image" {
        let preview = text("preview_url")
        add(["url", "remote_url"]) { .original($0, thumbnail: preview == $0 ? nil : preview) }
        add(["preview_url", "preview_remote_url"]) { preview in
          guard let original = text("url"), original != preview else {
            return .chosen(original: preview, thumbnail: nil)
          }
          return .chosen(original: original, thumbnail: preview)
        }
      } else {
        add(["preview_url", "preview_remote_url"]) { .thumbnail($0) }
      }
    }
    return pictures
  }
}

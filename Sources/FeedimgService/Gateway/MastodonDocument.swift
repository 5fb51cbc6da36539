import FeedimgFeeds
import FeedimgJSON

/// Replaces the addresses of pictures in a document of the Mastodon client API, and keeps all other bytes.
///
/// It recognises the entities by their members, wherever they occur.
struct MastodonDocument: Sendable {
  /// Whether the client loads the original of each picture while its user scrolls.
  ///
  /// The policy then chooses for `url`, too.
  var showsOriginals = false
  /// The address of the server's WebSockets, and the one of the gateway's; nil to keep it.
  var streaming: (old: String, new: String)?
  /// The new address of a picture; nil to keep the old one.
  let address: @Sendable (GatewayPicture) -> String?

  /// The document with its new addresses; nil if it has no picture, is not JSON, or would become too long.
  func rewritten(_ bytes: [UInt8]) -> [UInt8]? {
    guard let value = try? JSONNode.read(bytes) else { return nil }
    var edits = DocumentEdits()
    add(value, to: &edits)
    return edits.applied(to: bytes)
  }

  /// The message of a WebSocket with its new addresses; nil to keep it.
  ///
  /// The member `payload` has the entity of an event as text.
  func rewrittenMessage(_ bytes: [UInt8]) -> [UInt8]? {
    guard let payload = (try? JSONNode.read(bytes))?["payload"], let text = payload.text,
      let new = rewritten(Array(text.utf8))
    else { return nil }
    var edits = DocumentEdits()
    let string = JSONValue.string(String(decoding: new, as: UTF8.self))
    edits.replace(payload.range, with: string.text(.compact))
    return edits.applied(to: bytes)
  }

  private func add(_ value: JSONNode, to edits: inout DocumentEdits) {
    for element in value.elements { add(element, to: &edits) }
    guard case .object(let members) = value.content else { return }
    let pictures = pictures(in: value)
    for member in members where !edits.areTooLong {
      if let picture = pictures[member.name], member.value.text != nil {
        // Addresses have no characters that JSON escapes.
        if let new = address(picture) { edits.replace(member.value.range, with: "\"\(new)\"") }
      } else if let streaming, member.name == "streaming" || member.name == "streaming_api",
        member.value.text == streaming.old
      {
        edits.replace(member.value.range, with: "\"\(streaming.new)\"")
      } else {
        add(member.value, to: &edits)
      }
    }
  }

  /// The pictures of an entity by the member that has their address.
  private func pictures(in object: JSONNode) -> [String: GatewayPicture] {
    func text(_ name: String) -> String? { object[name]?.text.flatMap { $0.isEmpty ? nil : $0 } }
    func has(_ name: String) -> Bool { object[name] != nil }
    var pictures: [String: GatewayPicture] = [:]
    func add(_ names: [String], _ picture: (String) -> GatewayPicture) {
      for name in names { if let url = text(name) { pictures[name] = picture(url) } }
    }
    if has("acct") || has("username") {
      add(["avatar", "avatar_static", "header", "header_static"]) { .thumbnail($0) }
    }
    if has("shortcode") { add(["url", "static_url"]) { .thumbnail($0) } }
    if has("provider_name") { add(["image"]) { .thumbnail($0) } }
    if has("preview_url"), let type = text("type") {
      if type == "image" {
        let preview = text("preview_url")
        add(["url", "remote_url"]) { .original($0, thumbnail: preview == $0 ? nil : preview) }
        if showsOriginals { add(["url"]) { .chosen(original: $0, thumbnail: preview == $0 ? nil : preview) } }
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

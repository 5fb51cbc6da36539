import LoopbackServer

extension RawClient {
  /// The target that requests the image of an item with these URLs.
  static func target(image url: String, thumbnail: String? = nil) -> String {
    let second = thumbnail.map { ",\"thumbnailImage\":\"\($0)\"" } ?? ""
    let item = Array("{\"originalImage\":\"\(url)\"\(second)}".utf8)
    return "/v1/image?item=" + item.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

import LoopbackServer

extension RawClient {
  /// The target that requests the image of a URL.
  static func target(image url: String) -> String {
    let item = Array("{\"originalImage\":\"\(url)\"}".utf8)
    return "/v1/image?item=" + item.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

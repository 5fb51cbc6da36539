import FeedimgModel

extension MediaType {
  /// What the beginning of a body is.
  ///
  /// - Parameters:
  ///   - bytes: What has come; of a longer body at least ``prefixLength``.
  ///   - declared: What its server says that it is.
  ///   - url: Where it comes from.
  /// - Returns: Its media type.
  /// - Throws: `notAnImage` where it is no image known here.
  static func recognise(
    _ bytes: [UInt8],
    declared: String?,
    from url: ImageURL
  ) throws(LoadError) -> String {
    guard !bytes.isEmpty else {
      throw LoadError(.notAnImage, url: url, message: "the server sent an empty body instead of an image")
    }
    let prefix = Array(bytes.prefix(prefixLength))
    if let mediaType = sniff(prefix, declared: declared) { return mediaType }
    let message =
      switch declared {
      case let declared? where declared.hasPrefix("image/"):
        "the server said that it sends `\(declared)`, but sent no image known here"
      case let declared?: "the server sent `\(declared)`, which is no image known here"
      case nil: "the server sent a body without a type, which is no image known here"
      }
    var error = LoadError(.notAnImage, url: url, message: message)
    error.suspectsCaptivePortal = CaptivePortal.isPage(mediaType: declared, prefix: prefix)
    throw error
  }
}

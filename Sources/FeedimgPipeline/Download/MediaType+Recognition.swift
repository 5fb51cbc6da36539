import FeedimgModel

extension MediaType {
  /// Recognises the media type of a body by its first bytes, ``prefixLength`` or all.
  ///
  /// - Throws: `notAnImage` if the body is not a supported image.
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
        "the server declared `\(declared)` but sent no supported image"
      case let declared?: "the server sent `\(declared)`, which is not a supported image"
      case nil: "the server sent a body without a media type, which is not a supported image"
      }
    var error = LoadError(.notAnImage, url: url, message: message)
    error.suspectsCaptivePortal = CaptivePortal.isPage(mediaType: declared, prefix: prefix)
    throw error
  }
}

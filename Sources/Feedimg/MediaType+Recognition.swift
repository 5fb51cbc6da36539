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
    let sent = declared.map { "`\($0)`" } ?? "a body without a type"
    var error = LoadError(
      .notAnImage,
      url: url,
      message: "the server sent \(sent), which is no image known here"
    )
    error.suspectsCaptivePortal = CaptivePortal.isPage(mediaType: declared, prefix: prefix)
    throw error
  }
}

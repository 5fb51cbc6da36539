import FeedimgHTTPCache
import FeedimgModel

extension StoredResponse {
  /// Returns the error for an unsuccessful response, which says how long to remember it.
  func refusal(of url: ImageURL) -> LoadError {
    // Some servers and caches send 304 for an unconditional request.
    let surprise = head.status == 304 ? " to an unconditional request" : ""
    var error = LoadError(
      .status,
      url: url,
      message: "the server responded with \(HTTPStatus.text(head.status))\(surprise)",
      status: head.status,
      retryAfter: RetryAfter.seconds(head.fields, now: DeltaSeconds.whole(respondedAt))
    )
    error.cause =
      CaptivePortal.isStatus(head.status)
      ? .captivePortal : NegativeResponse.lifetime(self).map { .errorResponse(lifetime: $0) }
    return error
  }
}

extension ImageFormat {
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
    if CaptivePortal.isPage(mediaType: declared, prefix: prefix) { error.cause = .captivePortal }
    throw error
  }
}

/// Reads `Retry-After`, the time that a server asks clients to wait (RFC 9110 §10.2.3).
enum RetryAfter {
  /// Reads the field.
  ///
  /// A date counts from the server's own `Date`, since clocks differ. Without `Date`, it counts from `now`.
  ///
  /// - Parameters:
  ///   - fields: The fields of the response.
  ///   - now: Seconds since 1970.
  /// - Returns: Whole seconds from now, at least 0; nil if the field is absent or invalid.
  static func seconds(_ fields: HTTPFields, now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number too large for `Int` still means a long wait.
      return text.isEmpty ? nil : Int(text) ?? .max
    }
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    let reference = fields["date"].flatMap { HTTPDate.seconds($0, now: now) } ?? now
    return max(0, date - reference)
  }
}

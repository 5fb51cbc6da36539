import FeedimgModel

/// The redirects that one transfer has followed.
///
/// libcurl could follow redirects itself, but it does not detect loops and does not report why it refused a
/// target. Also, its versions differ in the fields that they withhold from other origins.
struct RedirectChain {
  private(set) var url: ImageURL
  /// Whether all URLs so far have the origin of the first; otherwise no credentials are sent.
  private(set) var isSameOrigin = true
  private let first: ImageURL
  private let limit: Int
  /// The keys of all URLs after the first.
  private var visited: [String] = []

  init(from url: ImageURL, limit: Int) {
    self.url = url
    self.limit = limit
    first = url
  }

  /// Whether a status is a redirect to `Location` (RFC 9110 §15.4); 300, 304, 305 and 306 are not.
  static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Follows one redirect.
  ///
  /// - Throws: ``LoadError`` with `forbiddenRedirect` or `tooManyRedirects`.
  mutating func follow(_ location: String, status: Int, _ library: CurlLibrary) throws(LoadError) {
    guard !location.isEmpty else {
      throw LoadError(
        .forbiddenRedirect,
        message: "the server sent status \(status) with an empty `Location`"
      )
    }
    let next = try target(of: location, library)
    guard next.key != first.key, !visited.contains(next.key) else {
      let shown = Self.shown(next.key)
      throw LoadError(.tooManyRedirects, message: "the redirects form a loop, back to `\(shown)`")
    }
    guard visited.count < limit else {
      let times = limit == 1 ? "1 redirect" : "\(limit) redirects"
      throw LoadError(.tooManyRedirects, message: "the server exceeded the limit of \(times)")
    }
    visited.append(next.key)
    isSameOrigin = isSameOrigin && next.origin == first.origin
    url = next
  }

  private func target(of location: String, _ library: CurlLibrary) throws(LoadError) -> ImageURL {
    let resolved = CurlURL.resolve(location, against: url.text, library)
    let text = resolved ?? location
    do throws(ImageURLError) {
      let target = try ImageURL(text)
      if resolved != nil { return target }
    } catch {
      throw Self.refusal(text, "\(error)")
    }
    throw Self.refusal(text, "libcurl cannot parse")
  }

  private static func refusal(_ text: String, _ reason: String) -> LoadError {
    LoadError(.forbiddenRedirect, message: "the server redirected to `\(shown(text))`, which \(reason)")
  }

  /// A URL for a message, without the user, password, query and fragment.
  private static func shown(_ text: String) -> String {
    ImageURL.shown(String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })))
  }
}

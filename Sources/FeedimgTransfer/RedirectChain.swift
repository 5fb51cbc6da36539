import FeedimgModel

/// The path of one transfer from URL to URL.
///
/// libcurl could follow redirects itself. But it tells neither a circle from a long chain nor why it refused a target,
/// and which fields it withholds from other origins differs by version.
struct RedirectChain {
  private(set) var url: ImageURL
  /// Whether every URL so far has the first one's origin; once left, credentials are not sent again.
  private(set) var staysHome = true
  private let home: ImageURL
  private let limit: Int
  /// Keys of the URLs after the first.
  private var visited: [String] = []

  init(from url: ImageURL, limit: Int) {
    self.url = url
    self.limit = limit
    home = url
  }

  /// Whether a status redirects (RFC 9110 §15.4); 300, 304, 305 and 306 do not.
  static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// Follows one redirect.
  ///
  /// - Parameters:
  ///   - location: The value of `Location`, absolute or relative.
  ///   - status: The status that came with it.
  ///   - library: Resolves relative locations.
  /// - Throws: ``LoadError`` with `forbiddenRedirect` or `tooManyRedirects`.
  mutating func follow(_ location: String, status: Int, _ library: CurlLibrary) throws(LoadError) {
    guard !location.isEmpty else {
      throw LoadError(.forbiddenRedirect, message: "the server answered \(status) with an empty `Location`")
    }
    let next = try target(of: location, library)
    guard next.key != home.key, !visited.contains(next.key) else {
      throw LoadError(.tooManyRedirects, message: "the redirects go in a circle, back to `\(next.key)`")
    }
    guard visited.count < limit else {
      let times = limit == 1 ? "1 redirect" : "\(limit) redirects"
      throw LoadError(.tooManyRedirects, message: "the server redirects further than the limit of \(times)")
    }
    visited.append(next.key)
    staysHome = staysHome && Origin(next) == Origin(home)
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
    throw Self.refusal(text, "libcurl cannot read")
  }

  private static func refusal(_ text: String, _ reason: String) -> LoadError {
    let shown = text.count > 200 ? text.prefix(200) + "…" : text[...]
    return LoadError(.forbiddenRedirect, message: "the server redirected to `\(shown)`, which \(reason)")
  }
}

import FeedimgModel

/// The way of one transfer from URL to URL.
///
/// libcurl could follow by itself, but tells neither a circle from a long way nor why a target was refused, and
/// which fields it keeps from other origins differs by version.
struct RedirectChain {
  private(set) var url: ImageURL
  /// Whether every URL so far has the origin of the first; once left, credentials are not sent again.
  private(set) var staysHome = true
  private let home: ImageURL
  private let limit: Int
  /// Keys of the URLs since the first, few enough to be looked through in order.
  private var visited: [String] = []

  init(from url: ImageURL, limit: Int) {
    self.url = url
    self.limit = limit
    home = url
  }

  /// Whether a status sends a client elsewhere (RFC 9110 §15.4); 300, 304, 305 and 306 do not.
  static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// Takes one step.
  ///
  /// - Parameters:
  ///   - location: The value of `Location`, absolute or relative.
  ///   - status: The status that came with it.
  /// - Throws: ``LoadError`` with `forbiddenRedirect` or `tooManyRedirects`.
  mutating func follow(_ location: String, status: Int) throws(LoadError) {
    guard !location.isEmpty else {
      throw LoadError(.forbiddenRedirect, message: "the server answered \(status) with an empty `Location`")
    }
    let text = URLReference(PercentCoding.encodingUnsafe(location)).resolved(against: url.text)
    let next: ImageURL
    do throws(ImageURLError) {
      next = try ImageURL(text)
    } catch {
      let shown = text.count > 200 ? text.prefix(200) + "…" : text[...]
      throw LoadError(.forbiddenRedirect, message: "the server redirected to `\(shown)`, which \(error)")
    }
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
}

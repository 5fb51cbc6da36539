package import FeedimgModel

/// Whether a private cache may store the image of this response (RFC 9111 §3).
///
/// `no-store` forbids it (§5.2.2.5), unless there is also `must-understand` and the status is known (§5.2.2.3).
/// `private` does not forbid it, as the cache has one user. `Authorization` in the request does not either (§3.5).
package func storageAllowed(head: ResponseHead) -> Bool {
  let control = CacheControl(head.fields)
  if control.has("must-understand") { return understoodStatuses.contains(head.status) }
  return !control.has("no-store")
}

/// The statuses that feedimg handles as RFC 9110 requires.
private let understoodStatuses: Set<Int> = [
  200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
]

/// Whether a private cache may store a response of any media type, as the whole response to a GET (RFC 9111 §3).
///
/// It may not store a part, a body whose end is uncertain, or a response that serves no other request.
package func responseStorageAllowed(head: ResponseHead) -> Bool {
  guard storageAllowed(head: head), head.status != 206, head.status != 304, !head.endsByClosing,
    !Vary(head.fields).isOpen
  else { return false }
  let control = CacheControl(head.fields)
  let isExplicit =
    ["max-age", "public", "private"].contains { control.has($0) } || head.fields["Expires"] != nil
  return isExplicit || FreshnessLifetime.allowsHeuristic(head.status)
}

/// How long to remember a response without an image, as far as it says (RFC 9111 §3, §4.2.1).
package enum NegativeResponse {
  /// The longest time, in seconds; an image that appears on the server is shown after it at the latest.
  package static let maximumLifetime = 3600.0

  /// The time for which a response asks to be remembered.
  ///
  /// - Parameter response: The response, with its time of arrival.
  /// - Returns: Seconds; zero if each load must send a request, nil if the response does not say.
  package static func lifetime(_ response: StoredResponse) -> Double? {
    let control = CacheControl(response.head.fields)
    if control.has("no-store") || control.has("no-cache") { return 0 }
    let lifetime = FreshnessLifetime(of: response)
    switch lifetime.rule {
    case .maxAge, .expires:
      let left = lifetime.seconds - response.age(at: response.respondedAt)
      return min(max(0, left), maximumLifetime)
    case .invalid:
      return 0
    // The date of an error page says nothing about the image.
    case .heuristic, .silent:
      return nil
    }
  }
}

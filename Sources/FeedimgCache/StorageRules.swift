package import FeedimgModel

/// Whether a private cache may keep the image that this response brings (RFC 9111 §3).
///
/// `no-store` forbids it (§5.2.2.5), unless `must-understand` says that who understands the status need not heed it
/// (§5.2.2.3). `private` does not: this is the cache of one user. Nor does `Authorization` in the request (§3.5).
package func storageAllowed(head: ResponseHead) -> Bool {
  let control = CacheControl(head.fields)
  if control.has("must-understand") { return understoodStatuses.contains(head.status) }
  return !control.has("no-store")
}

/// What we know how to treat, as RFC 9110 says.
private let understoodStatuses: Set<Int> = [
  200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
]

/// Whether a private cache may keep a response of any kind, as the whole response to a GET (RFC 9111 §3).
///
/// Not what is a part, what answers no other request, and what nobody can tell to be whole.
package func responseStorageAllowed(head: ResponseHead) -> Bool {
  guard storageAllowed(head: head), head.status != 206, head.status != 304, !head.endsByClosing,
    !Vary(head.fields).isOpen
  else { return false }
  let control = CacheControl(head.fields)
  let isExplicit =
    ["max-age", "public", "private"].contains { control.has($0) } || head.fields["Expires"] != nil
  return isExplicit || FreshnessLifetime.allowsHeuristic(head.status)
}

/// For how long a response that brought no image is believed, as far as it says (RFC 9111 §3, §4.2.1).
package enum NegativeResponse {
  /// An image that appears after all shows after so many seconds, whatever was told.
  package static let greatestLifetime = 3600.0

  /// For how long a response is believed, by its own account.
  ///
  /// - Parameter response: The response, with when it came.
  /// - Returns: Seconds; zero for what must be asked for each time, nil where nothing is said.
  package static func lifetime(_ response: StoredResponse) -> Double? {
    let control = CacheControl(response.head.fields)
    if control.has("no-store") || control.has("no-cache") { return 0 }
    let lifetime = FreshnessLifetime(of: response)
    switch lifetime.rule {
    case .maxAge, .expires:
      let left = lifetime.seconds - response.age(at: response.respondedAt)
      return min(max(0, left), greatestLifetime)
    case .invalid:
      return 0
    // When a page of an error was changed says nothing of the image.
    case .heuristic, .silent:
      return nil
    }
  }
}

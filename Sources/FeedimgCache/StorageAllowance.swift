package import FeedimgModel

/// Whether a private cache may keep the image that this answer brings (RFC 9111 §3).
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

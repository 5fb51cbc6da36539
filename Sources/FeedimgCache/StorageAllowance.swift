package import FeedimgModel

/// Whether a private cache may keep the image that this answer brings (RFC 9111 §3).
///
/// `no-store` forbids it (§5.2.2.5), in whatever spelling. `private` does not: this is the cache of one user.
package func storageAllowed(head: ResponseHead) -> Bool {
  !CacheControl(head.fields).has("no-store")
}

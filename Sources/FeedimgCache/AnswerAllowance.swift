package import FeedimgModel

/// Whether a private cache may keep an answer of any kind, as the whole answer to a GET (RFC 9111 §3).
///
/// Not what is a part, what answers no other request, and what nobody can tell to be whole.
package func answerStorageAllowed(head: ResponseHead) -> Bool {
  guard storageAllowed(head: head), head.status != 206, head.status != 304, !head.endsByClosing,
    !Vary(head.fields).isOpen
  else { return false }
  let control = CacheControl(head.fields)
  let isExplicit =
    ["max-age", "public", "private"].contains { control.has($0) } || head.fields["Expires"] != nil
  return isExplicit || FreshnessLifetime.allowsHeuristic(head.status)
}

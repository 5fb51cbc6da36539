import FeedimgHTTPCache
import FeedimgModel

/// How a private cache handles a request (RFC 9111 §4; pure).
enum FetchPlan: Sendable, Hashable {
  /// Why the request goes to the server (RFC 9211 §2.2).
  enum Reason: String, Sendable, Hashable {
    case bypass
    case missing = "uri-miss"
    case otherVariants = "vary-miss"
    /// The stored response is fresh, but the client asks for a newer one.
    case request
    case stale
  }

  /// When the stored response is used although its validation failed.
  enum Fallback: Sendable, Hashable {
    case none
    /// When the server cannot be reached (RFC 9111 §4.2.4).
    case ifUnreachable
    /// Also when the server fails (RFC 5861 §4).
    case ifError
  }

  /// Use the stored response, and perhaps validate it in the background (RFC 5861 §3).
  case reuse(revalidates: Bool)
  /// Validate the stored response, and get a new one if it is no longer valid.
  case validate(Reason, Fallback)
  case fetch(Reason)
  case pass(Reason, Fallback)
  /// The client allows no request to the server.
  case refuse

  /// - Parameters:
  ///   - request: The client's request.
  ///   - stored: The stored response that the request selects.
  ///   - hasOthers: Whether there are variants for other requests.
  ///   - now: Seconds since 1970.
  init(_ request: FetchRequest, stored: StoredResponse?, hasOthers: Bool, at now: Double) {
    let control = request.control
    guard !request.guardsChange else {
      self = .pass(.bypass, .none)
      return
    }
    guard let stored else {
      let reason = hasOthers ? Reason.otherVariants : .missing
      // The server may respond without the whole body, so that no other client can share the response.
      let isOwn =
        request.isHead || request.fields.isConditional || request.fields["Range"] != nil
        || control.has("no-store")
      self = control.has("only-if-cached") ? .refuse : isOwn ? .pass(reason, .none) : .fetch(reason)
      return
    }
    let freshness = Freshness(of: stored, for: control, at: now)
    let fallback: Fallback
    switch freshness.state {
    case .fresh:
      self = .reuse(revalidates: false)
      return
    case .staleWhileRevalidate:
      self = .reuse(revalidates: true)
      return
    case .staleIfError: fallback = .ifError
    case .unspecified, .stale: fallback = .ifUnreachable
    case .mustRevalidate: fallback = .none
    }
    let reason = freshness.left > 0 ? Reason.request : .stale
    let isOwn = request.isHead || control.has("no-store")
    self =
      control.has("only-if-cached") ? .refuse : isOwn ? .pass(reason, fallback) : .validate(reason, fallback)
  }
}

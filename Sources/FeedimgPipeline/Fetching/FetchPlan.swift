import FeedimgCache
import FeedimgModel

/// What to do about a request for an answer, by the rules for private caches (RFC 9111 §4; pure).
enum FetchPlan: Sendable, Hashable {
  /// Why a server is asked (RFC 9211 §2.2).
  enum Reason: String, Sendable, Hashable {
    case bypass
    case missing = "uri-miss"
    case otherVariants = "vary-miss"
    /// The client does not want what is stored, although it is fresh.
    case request
    case stale
  }

  /// What to do if the server cannot be asked, or fails.
  enum Fallback: Sendable, Hashable {
    /// Nothing may stand in.
    case none
    /// What is stored, where the server cannot be reached (RFC 9111 §4.2.4).
    case ifUnreachable
    /// The same, also where the server fails (RFC 5861 §4).
    case ifError
  }

  /// What is stored, without asking; whether it is then asked about in the background (RFC 5861 §3).
  case reuse(revalidates: Bool)
  /// Ask whether what is stored is still right, or for all of it.
  case validate(Reason, Fallback)
  /// Ask for all of it.
  case fetch(Reason)
  /// Hand the request over as it is, and the answer back.
  case pass(Reason, Fallback)
  /// The client wants no server to be asked.
  case refuse

  /// - Parameters:
  ///   - request: What the client wants.
  ///   - stored: What is stored for just this request.
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
      // The server can reply to these requests without a whole body.
      let isOwn =
        request.isHead || request.isConditional || request.fields["Range"] != nil || control.has("no-store")
      self = control.has("only-if-cached") ? .refuse : isOwn ? .pass(reason, .none) : .fetch(reason)
      return
    }
    let freshness = Freshness(of: stored, for: control, at: now)
    let fallback: Fallback
    switch freshness.standing {
    case .fresh:
      self = .reuse(revalidates: false)
      return
    case .staleWhileRevalidate:
      self = .reuse(revalidates: true)
      return
    case .staleIfError: fallback = .ifError
    case .unsaid, .stale: fallback = .ifUnreachable
    case .mustAsk: fallback = .none
    }
    let reason = freshness.left > 0 ? Reason.request : .stale
    let isOwn = request.isHead || control.has("no-store")
    self =
      control.has("only-if-cached") ? .refuse : isOwn ? .pass(reason, fallback) : .validate(reason, fallback)
  }
}

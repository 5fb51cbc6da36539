import FeedimgModel

/// The rules of freshness, in their order; the first that applies decides (pure).
struct FreshnessRules {
  /// Of the answer.
  var control: CacheControl
  /// Of the request.
  var request: CacheControl
  var fields: HTTPFields
  var lifetime: FreshnessLifetime
  var age: Double

  typealias Verdict = (Freshness.Standing, String)

  private var left: Double { lifetime.seconds - age }
  private var staleFor: Double { max(0, -left) }

  var first: Verdict { forbidden ?? unwanted ?? fresh ?? bound ?? permitted ?? stale }

  /// What must be asked about although it may be fresh.
  private var forbidden: Verdict? {
    // With arguments it is about single fields; to ask then as well costs one question (§5.2.2.4).
    if control.has("no-cache") { return (.mustAsk, "no-cache (RFC 9111 §5.2.2.4)") }
    if request.has("no-cache") { return (.mustAsk, "no-cache in the request (RFC 9111 §5.2.1.4)") }
    // Only those speak by Pragma who do not know Cache-Control (§5.4).
    guard control.isEmpty, CacheControl(fields["Pragma"] ?? "").has("no-cache") else { return nil }
    return (.mustAsk, "Pragma: no-cache (RFC 9111 §5.4)")
  }

  /// What is not fresh enough for this request.
  private var unwanted: Verdict? {
    if let limit = request.seconds("max-age"), age > Double(limit), !request.has("max-stale") {
      // Reloading a page does not make an answer that never changes less fresh (RFC 8246 §2).
      if left > 0, control.has("immutable") { return (.fresh, "immutable (RFC 8246 §2)") }
      return (overdue, "max-age=\(limit) in the request (RFC 9111 §5.2.1.1)")
    }
    if let wish = request.seconds("min-fresh"), left < Double(wish) {
      return (overdue, "min-fresh=\(wish) in the request (RFC 9111 §5.2.1.3)")
    }
    return nil
  }

  private var overdue: Freshness.Standing {
    left <= 0 && control.has("must-revalidate") ? .mustAsk : .stale
  }

  private var fresh: Verdict? { left > 0 ? (.fresh, lifetimeReason) : nil }

  /// What is stale and may by no means be used so.
  private var bound: Verdict? {
    control.has("must-revalidate") ? (.mustAsk, "must-revalidate (RFC 9111 §5.2.2.2)") : nil
  }

  /// What is stale and may be used nevertheless.
  private var permitted: Verdict? {
    if let argument = request["max-stale"] {
      let limit = DeltaSeconds.parse(argument)
      // Without an argument any age will do; one that makes no sense allows nothing.
      if argument.isEmpty { return (.fresh, "max-stale in the request (RFC 9111 §5.2.1.2)") }
      if let limit, staleFor <= Double(limit) {
        return (.fresh, "max-stale=\(limit) in the request (RFC 9111 §5.2.1.2)")
      }
    }
    if let limit = control.seconds("stale-while-revalidate"), staleFor < Double(limit) {
      return (.staleWhileRevalidate, "stale-while-revalidate=\(limit) (RFC 5861 §3)")
    }
    if let limit = request.seconds("stale-if-error"), staleFor < Double(limit) {
      return (.staleIfError, "stale-if-error=\(limit) in the request (RFC 5861 §4)")
    }
    if let limit = control.seconds("stale-if-error"), staleFor < Double(limit) {
      return (.staleIfError, "stale-if-error=\(limit) (RFC 5861 §4)")
    }
    let isSilent = lifetime.rule == .silent && control.isEmpty && fields["Pragma"] == nil
    return isSilent ? (.unsaid, "nothing is said of freshness (RFC 9111 §4.2.2)") : nil
  }

  private var stale: Verdict { (.stale, lifetimeReason) }

  private var lifetimeReason: String {
    let seconds = Int(min(lifetime.seconds, 1e12))
    return switch lifetime.rule {
    case .maxAge: "max-age=\(seconds) (RFC 9111 §5.2.2.1)"
    case .expires: "Expires, \(seconds) s after Date (RFC 9111 §5.3)"
    case .heuristic: "a tenth of the age at Last-Modified, \(seconds) s (RFC 9111 §4.2.2)"
    case .invalid: "a freshness that makes no sense (RFC 9111 §4.2.1)"
    case .silent: "no freshness (RFC 9111 §4.2.2)"
    }
  }
}

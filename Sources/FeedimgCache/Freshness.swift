package import FeedimgModel

/// Whether a stored answer may be used as it is, by the rules for a private cache (RFC 9111 §4).
///
/// A cached image is shown whatever this says; it decides whether showing it also starts a revalidation. Only who
/// acts as a cache for other programs has to follow it in everything.
package struct Freshness: Sendable, Hashable {
  /// What may be done with the answer.
  package enum Standing: String, Sendable, Hashable, CaseIterable {
    /// It may be used without asking.
    case fresh
    /// It may be used now, while it is asked about (RFC 5861 §3).
    case staleWhileRevalidate = "stale while it is asked about"
    /// It may be used when asking ends in an error (RFC 5861 §4).
    case staleIfError = "stale if asking fails"
    /// Its host says nothing at all: stale by the letter, but an image may be shown while it is asked about.
    case unsaid
    /// It may be used after asking, or where nobody can be asked (RFC 9111 §4.2.4).
    case stale
    /// It must not be used without asking, not even where nobody can be asked.
    case mustAsk = "must be asked about"
  }

  package var standing: Standing
  /// The rule that decided, as its text and its source, such as `max-age=60 (RFC 9111 §5.2.2.1)`.
  package var reason: String
  package var lifetime: FreshnessLifetime
  /// In seconds.
  package var age: Double

  /// How long the answer stays fresh from now on, in seconds; negative since it became stale.
  package var left: Double { lifetime.seconds - age }

  /// - Parameters:
  ///   - answer: What is stored; its request was for the same, as told by ``Vary``.
  ///   - request: The directives of the request that is to be answered.
  ///   - now: Seconds since 1970.
  package init(of answer: StoredAnswer, for request: CacheControl = CacheControl(""), at now: Double) {
    lifetime = FreshnessLifetime(of: answer)
    age = answer.age(at: now)
    let rules = FreshnessRules(
      control: CacheControl(answer.head.fields),
      request: request,
      fields: answer.head.fields,
      lifetime: lifetime,
      age: age
    )
    (standing, reason) = rules.first
  }
}

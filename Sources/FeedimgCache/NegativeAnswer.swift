package import FeedimgModel

/// For how long an answer that brought no image is believed, as far as it says (RFC 9111 §3, §4.2.1).
package enum NegativeAnswer {
  /// An image that appears after all shows after so many seconds, whatever was told.
  package static let greatestLifetime = 3600.0

  /// For how long an answer is believed, by its own account.
  ///
  /// - Parameter answer: The answer, with when it came.
  /// - Returns: Seconds; zero for what must be asked for each time, nil where nothing is said.
  package static func lifetime(_ answer: StoredAnswer) -> Double? {
    let control = CacheControl(answer.head.fields)
    if control.has("no-store") || control.has("no-cache") { return 0 }
    let lifetime = FreshnessLifetime(of: answer)
    switch lifetime.rule {
    case .maxAge, .expires:
      let left = lifetime.seconds - answer.age(at: answer.respondedAt)
      return min(max(0, left), greatestLifetime)
    case .invalid:
      return 0
    // When a page of an error was changed says nothing of the image.
    case .heuristic, .silent:
      return nil
    }
  }
}

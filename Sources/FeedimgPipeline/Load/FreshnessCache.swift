import FeedimgHTTPCache
import FeedimgModel
import Synchronization

/// Remembers for a moment whether images are fresh, for images that are shown again and again.
///
/// Reading the dates and rules each time would take longer than all other work for a shown image.
final class FreshnessCache: Sendable {
  /// The consequences of showing an image.
  struct Verdict: Sendable, Hashable {
    var revalidation: RevalidationPlan
    /// How long the image stays fresh, in seconds.
    var left: Double
  }

  private struct Entry {
    var response: StoredResponse
    var savesData: Bool
    var verdict: Verdict
    var madeAt: Double
  }

  /// How long a verdict is reused, in seconds; freshness rules are not more precise than this.
  private static let lifetime = 1.0
  /// More images than a screen shows.
  private static let maximumCount = 512

  private let entries = Mutex<[String: Entry]>([:])

  /// Returns whether showing an image starts a revalidation, and how long it stays fresh.
  ///
  /// - Returns: The verdict, which is less than a second old.
  func verdict(
    _ key: String,
    _ response: StoredResponse,
    by identity: RequestIdentity,
    at now: Double
  ) -> Verdict {
    let known = entries.withLock { $0[key] }
    if let known, known.savesData == identity.savesData, known.response == response {
      let passed = now - known.madeAt
      var verdict = known.verdict
      verdict.left -= passed
      // An image that stops being fresh within that second is checked again from then on.
      if 0..<Self.lifetime ~= passed, verdict.left > 0 || known.verdict.left <= 0 { return verdict }
    }
    let verdict = Verdict(
      revalidation: RevalidationPlan(response, by: identity, at: now),
      left: Freshness(of: response, at: now).left
    )
    let entry = Entry(response: response, savesData: identity.savesData, verdict: verdict, madeAt: now)
    entries.withLock { entries in
      if entries.count >= Self.maximumCount { entries.removeAll() }
      entries[key] = entry
    }
    return verdict
  }
}

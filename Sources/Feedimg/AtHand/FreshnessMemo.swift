import FeedimgCache
import FeedimgModel
import Synchronization

/// What was found of the freshness of images that are shown again and again, for a moment.
///
/// To read dates and rules anew for each showing would take longer than anything else that is done for it.
final class FreshnessMemo: Sendable {
  /// What showing an image means.
  struct Verdict: Sendable, Hashable {
    var asking: RevalidationPlan
    /// For how long it stays fresh, in seconds.
    var left: Double
  }

  private struct Entry {
    var response: StoredResponse
    var savesData: Bool
    var verdict: Verdict
    var madeAt: Double
  }

  /// What is true of an image for so long is looked at again, in seconds; more exact than any rule.
  private static let lifetime = 1.0
  /// More than are on a screen.
  private static let greatestCount = 512

  private let entries = Mutex<[String: Entry]>([:])

  /// What showing an image means.
  ///
  /// - Parameters:
  ///   - key: That of its URL.
  ///   - response: What brought it.
  ///   - identity: What we would send.
  ///   - now: Seconds since 1970.
  /// - Returns: As of now, or of less than a second ago.
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
      // What ceases to be fresh meanwhile is to be asked about from then on.
      if 0..<Self.lifetime ~= passed, verdict.left > 0 || known.verdict.left <= 0 { return verdict }
    }
    let verdict = Verdict(
      asking: RevalidationPlan(response, by: identity, at: now),
      left: Freshness(of: response, at: now).left
    )
    let entry = Entry(response: response, savesData: identity.savesData, verdict: verdict, madeAt: now)
    entries.withLock { entries in
      if entries.count >= Self.greatestCount { entries.removeAll() }
      entries[key] = entry
    }
    return verdict
  }
}

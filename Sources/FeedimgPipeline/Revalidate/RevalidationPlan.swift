import FeedimgHTTPCache
package import FeedimgModel
import Synchronization

/// Whether to ask the server about a cached image, and when (pure).
package enum RevalidationPlan: Hashable, Sendable {
  case none
  /// Show the image at once, and ask the server meanwhile.
  case meanwhile
  /// Ask the server first, and show the image even if the server does not respond.
  case before

  /// The interval in seconds within which another request is pointless, regardless of the response.
  static let minimumInterval = 10.0

  package init(_ response: StoredResponse, by identity: RequestIdentity, at now: Double) {
    let vary = Vary(response.head.fields)
    let isNew = (0..<Self.minimumInterval).contains(now - response.respondedAt)
    // `Save-Data` alone does not make a stored response that of another program.
    let isOurs =
      vary.matches(response.varied.withoutSaveData, identity.sent.withoutSaveData) || vary.isOpen && isNew
    if isOurs, !identity.savesData, response.varied["Save-Data"] != nil, !isNew {
      // The server may have reduced the image to save data, which is no longer wanted.
      self = .meanwhile
    } else if !isOurs {
      // The server chose it by the request fields of another program (RFC 9111 §4.1).
      self = .before
    } else {
      self = Freshness(of: response, at: now).state == .fresh || isNew ? .none : .meanwhile
    }
  }
}

extension HTTPFields {
  fileprivate var withoutSaveData: HTTPFields { HTTPFields(fields.filter { !$0.isNamed("Save-Data") }) }
}

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

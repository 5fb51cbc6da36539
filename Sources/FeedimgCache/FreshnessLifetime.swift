package import FeedimgModel

/// How long an answer is fresh, and by which rule (RFC 9111 §4.2.1, §4.2.2).
package struct FreshnessLifetime: Sendable, Hashable {
  /// The rule that decided.
  package enum Rule: String, Sendable, Hashable, CaseIterable {
    /// `Cache-Control: max-age` (§5.2.2.1).
    case maxAge = "max-age"
    /// `Expires` less `Date` (§5.3).
    case expires = "Expires"
    /// A tenth of the time since `Last-Modified`, a day at most (§4.2.2).
    case heuristic = "Last-Modified"
    /// A rule is there and makes no sense, so that the answer is stale (§4.2.1).
    case invalid = "invalid"
    /// The host says nothing of freshness at all.
    case silent = "none"
  }

  package var seconds: Double
  package var rule: Rule

  /// The share of the time since the last change for which an answer counts as fresh (RFC 9111 §4.2.2).
  static let heuristicShare = 0.1
  /// The cap of that, in seconds.
  ///
  /// Feeds' images hardly ever change under their URL, but a day is soon enough to see one that did.
  static let greatestHeuristic = 86_400.0

  package init(of answer: StoredAnswer) {
    let fields = answer.head.fields
    let control = CacheControl(fields)
    if control.has("max-age") {
      let seconds = control.seconds("max-age")
      self.init(seconds: Double(seconds ?? 0), rule: seconds == nil ? .invalid : .maxAge)
    } else if fields["Expires"] != nil {
      // A date that makes no sense, above all 0, means the past (§5.3).
      let date = answer.date("Expires")
      self.init(seconds: max(0, (date ?? 0) - answer.date), rule: date == nil ? .invalid : .expires)
    } else if let changed = answer.date("Last-Modified"), Self.allowsHeuristic(answer.head.status) {
      let share = max(0, answer.date - changed) * Self.heuristicShare
      self.init(seconds: min(share, Self.greatestHeuristic), rule: .heuristic)
    } else {
      self.init(seconds: 0, rule: .silent)
    }
  }

  private init(seconds: Double, rule: Rule) {
    self.seconds = seconds
    self.rule = rule
  }

  /// Whether answers of a status may be taken for fresh without being told (RFC 9110 §15.1).
  static func allowsHeuristic(_ status: Int) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }
}

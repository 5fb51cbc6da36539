import FeedimgSettings

/// Says whether the files of a policy are worth a look (pure).
///
/// Who asks a few times looks each time, as a watch costs more than it saves; who asks often, such as a service, watches
/// and looks when something has happened, and once a second for what no watch tells: of a folder that was put in the
/// place of another one above, or that another machine has changed.
struct PolicyVigil: Sendable {
  /// See ``SettingsStore``.
  static let looksBeforeWatching = 256
  /// In seconds.
  static let longestRest = 1.0

  private var looks = 0
  private var lookedAt = -Double.infinity
  private var isDirty = true

  /// Whether it is time to watch.
  var isBusy: Bool { looks >= Self.looksBeforeWatching }

  /// Takes note that something may have happened that nobody has read.
  mutating func note() { isDirty = true }

  /// Takes note that somebody asks.
  ///
  /// - Parameters:
  ///   - hasChanged: What the watch says; true where there is none.
  ///   - isSettled: Whether any change since the last look would have shown.
  ///   - isLooking: Whether another one looks now, so that nobody else does.
  ///   - now: Seconds since 1970; may jump.
  /// - Returns: Whether to look now; what has happened is forgotten only then.
  mutating func mustLook(_ hasChanged: Bool, isSettled: Bool, isLooking: Bool, at now: Double) -> Bool {
    isDirty = isDirty || hasChanged || !isSettled || !(0..<Self.longestRest ~= now - lookedAt)
    guard isDirty, !isLooking else { return false }
    (isDirty, lookedAt) = (false, now)
    if !isBusy { looks += 1 }
    return true
  }
}

import FeedimgModel
import Testing

@testable import FeedimgSettings

struct LatestSnapshotTests {
  private func snapshot(_ days: Int, warning: String? = nil) -> SettingsSnapshot {
    var snapshot = warning.map(SettingsSnapshot.init(warning:)) ?? SettingsSnapshot()
    snapshot.settings.cacheExpiryDays = days
    return snapshot
  }

  @Test func `a snapshot is current until the file changes`() {
    var latest = LatestSnapshot()
    #expect(!latest.isCurrent)
    let number = latest.beginReading()
    _ = latest.endReading(number, snapshot(1))
    #expect(latest.isCurrent)
    latest.invalidate()
    #expect(!latest.isCurrent)
  }

  @Test func `an earlier reading never replaces a later one`() {
    var latest = LatestSnapshot()
    let slow = latest.beginReading()
    let fast = latest.beginReading()
    #expect(latest.endReading(fast, snapshot(2)) == snapshot(2))
    #expect(latest.endReading(slow, snapshot(1)) == snapshot(2))
    #expect(latest.snapshot == snapshot(2))
  }

  @Test func `a reading that started before a change is not current`() {
    var latest = LatestSnapshot()
    let number = latest.beginReading()
    latest.invalidate()
    _ = latest.endReading(number, snapshot(1))
    #expect(!latest.isCurrent)
  }

  @Test func `a warning is reported once, and again after it disappeared`() {
    var latest = LatestSnapshot()
    func take(_ snapshot: SettingsSnapshot) -> [String] {
      let number = latest.beginReading()
      _ = latest.endReading(number, snapshot)
      return latest.takeWarnings().map(\.message)
    }
    #expect(take(snapshot(1, warning: "torn")) == ["torn"])
    #expect(take(snapshot(1, warning: "torn")) == [])
    #expect(take(snapshot(1)) == [])
    #expect(take(snapshot(1, warning: "torn")) == ["torn"])
  }
}

import FeedimgModel
import Testing

@testable import FeedimgSettings

struct LatestReadoutTests {
  private func readout(_ days: Int, warning: String? = nil) -> SettingsReadout {
    var readout = warning.map(SettingsReadout.init(warning:)) ?? SettingsReadout()
    readout.settings.cacheExpiryDays = days
    return readout
  }

  @Test func `what is read holds until something changes`() {
    var latest = LatestReadout()
    #expect(!latest.isCurrent)
    let number = latest.beginReading()
    _ = latest.endReading(number, readout(1))
    #expect(latest.isCurrent)
    latest.invalidate()
    #expect(!latest.isCurrent)
  }

  @Test func `a reading that began earlier does not undo a later one`() {
    var latest = LatestReadout()
    let slow = latest.beginReading()
    let fast = latest.beginReading()
    #expect(latest.endReading(fast, readout(2)) == readout(2))
    #expect(latest.endReading(slow, readout(1)) == readout(2))
    #expect(latest.readout == readout(2))
  }

  @Test func `a reading that began before a change does not count as after it`() {
    var latest = LatestReadout()
    let number = latest.beginReading()
    latest.invalidate()
    _ = latest.endReading(number, readout(1))
    #expect(!latest.isCurrent)
  }

  @Test func `a warning is told once, and again when it has been away`() {
    var latest = LatestReadout()
    func take(_ readout: SettingsReadout) -> [String] {
      let number = latest.beginReading()
      _ = latest.endReading(number, readout)
      return latest.takeWarnings().map(\.message)
    }
    #expect(take(readout(1, warning: "torn")) == ["torn"])
    #expect(take(readout(1, warning: "torn")) == [])
    #expect(take(readout(1)) == [])
    #expect(take(readout(1, warning: "torn")) == ["torn"])
  }
}

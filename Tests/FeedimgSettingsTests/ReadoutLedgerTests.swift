import FeedimgModel
import Testing

@testable import FeedimgSettings

struct ReadoutLedgerTests {
  private func readout(_ days: Int, warning: String? = nil) -> SettingsReadout {
    var readout = warning.map(SettingsReadout.init(warning:)) ?? SettingsReadout()
    readout.settings.cacheExpiryDays = days
    return readout
  }

  @Test func `what is read holds until something changes`() {
    var ledger = ReadoutLedger()
    #expect(!ledger.isCurrent)
    let number = ledger.beginReading()
    _ = ledger.endReading(number, readout(1))
    #expect(ledger.isCurrent)
    ledger.invalidate()
    #expect(!ledger.isCurrent)
  }

  @Test func `a reading that began earlier does not undo a later one`() {
    var ledger = ReadoutLedger()
    let slow = ledger.beginReading()
    let fast = ledger.beginReading()
    #expect(ledger.endReading(fast, readout(2)) == readout(2))
    #expect(ledger.endReading(slow, readout(1)) == readout(2))
    #expect(ledger.latest == readout(2))
  }

  @Test func `a reading that began before a change does not count as after it`() {
    var ledger = ReadoutLedger()
    let number = ledger.beginReading()
    ledger.invalidate()
    _ = ledger.endReading(number, readout(1))
    #expect(!ledger.isCurrent)
  }

  @Test func `a warning is told once, and again when it has been away`() {
    var ledger = ReadoutLedger()
    func take(_ readout: SettingsReadout) -> [String] {
      let number = ledger.beginReading()
      _ = ledger.endReading(number, readout)
      return ledger.takeWarnings().map(\.message)
    }
    #expect(take(readout(1, warning: "torn")) == ["torn"])
    #expect(take(readout(1, warning: "torn")) == [])
    #expect(take(readout(1)) == [])
    #expect(take(readout(1, warning: "torn")) == ["torn"])
  }
}

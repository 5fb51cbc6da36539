public import Feedimg
import FeedimgModel
import FeedimgSettings
import FeedimgSystem
import FeedimgUsage

/// The data received from the network, by day and network.
public struct Usage: Sendable {
  private let ledger: UsageLedger
  private let settings: SettingsStore
  private let folder: String

  /// Creates a reader of the ledger to which a loader with this configuration adds; it opens and creates no
  /// file.
  ///
  /// - Parameter configuration: The folders of state and settings.
  /// - Throws: ``ConfigurationError`` if no folder is known.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    let folders = Folders(configuration)
    settings = SettingsStore(folder: try folders.configuration)
    folder = try folders.usage
    ledger = UsageLedger(folder: folder, clock: SystemClock.seconds)
  }

  /// Creates a reader that shares the settings and the ledger of a loader with these parts.
  ///
  /// - Throws: ``ConfigurationError`` if no folder is known.
  package init(
    _ configuration: ImageLoader.Configuration,
    sharing parts: LoaderParts
  ) throws(ConfigurationError) {
    settings = parts.settings
    folder = try Folders(configuration).usage
    ledger = parts.usage ?? UsageLedger(folder: folder, clock: SystemClock.seconds)
  }

  /// Warnings about invalid settings and a damaged ledger; each warning is returned once.
  public var warnings: [String] { settings.takeWarnings() + ledger.takeWarnings() }

  /// Reports the data that all programs of this user received in the last days.
  ///
  /// - Parameter count: The number of days up to today; at least one. After a change of the time zone, the
  ///   report may include tomorrow.
  /// - Returns: The sums by day, and the rest of the budget.
  /// - Throws: ``ConfigurationError`` if the ledger cannot be read.
  public func report(days count: Int = 30) throws(ConfigurationError) -> UsageReport {
    let (all, unreadableCount) = try convertingErrors { () throws(UsageLedgerError) in try ledger.all() }
    let today = ledger.today()
    // Time zones differ by at most 26 hours, so a day of another time zone is at most two days ahead.
    let latest = today.advanced(by: 2)
    let last = max(today, all.map(\.day).filter { $0 <= latest }.max() ?? today)
    let days = today.advanced(by: 1 - max(1, count))...last
    let month = days.lowerBound.advanced(by: 1 - days.lowerBound.day)
    return UsageReport(
      days: days,
      usage: all.filter { days.contains($0.day) },
      budget: CellularBudget(settings.currentSettings(), today: today) { period in
        all.filter { period.contains($0.day) }
      },
      unreadableCount: unreadableCount,
      folder: folder,
      earlier: all.filter { $0.day >= month && $0.day < days.lowerBound }
    )
  }

  /// Removes all counts.
  ///
  /// - Throws: ``ConfigurationError`` if they cannot be removed.
  public func clear() throws(ConfigurationError) {
    try convertingErrors { () throws(UsageLedgerError) in try ledger.clear() }
  }

  private func convertingErrors<Result>(
    _ body: () throws(UsageLedgerError) -> Result
  ) throws(ConfigurationError) -> Result {
    do throws(UsageLedgerError) {
      return try body()
    } catch {
      throw ConfigurationError([error.description], isSystemFailure: true)
    }
  }
}

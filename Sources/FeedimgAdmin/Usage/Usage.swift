public import Feedimg
import FeedimgModel
import FeedimgSettings
import FeedimgSystem
import FeedimgUsage

/// What the network has brought, as people and programs look at it.
public struct Usage: Sendable {
  private let ledger: UsageLedger
  private let settings: SettingsStore
  private let folder: String

  /// The ledgers that a loader of this configuration would add to; nothing is opened or made yet.
  ///
  /// - Parameter configuration: Its folders count.
  /// - Throws: ``ConfigurationError`` where no folder is known.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    let folders = Folders(configuration)
    settings = SettingsStore(folder: try folders.configuration)
    folder = try folders.usage
    ledger = UsageLedger(folder: folder, clock: SystemClock.seconds)
  }

  /// The ledgers of a configuration, with the settings of a loader with these parts.
  ///
  /// - Throws: ``ConfigurationError`` where no folder is known.
  package init(
    _ configuration: ImageLoader.Configuration,
    sharing parts: LoaderParts
  ) throws(ConfigurationError) {
    settings = parts.settings
    folder = try Folders(configuration).usage
    ledger = UsageLedger(folder: folder, clock: SystemClock.seconds)
  }

  /// Settings that could not be used, and a ledger that was damaged; each thing once.
  public var warnings: [String] { settings.takeWarnings() + ledger.takeWarnings() }

  /// What was received lately, by any program of this user.
  ///
  /// - Parameter count: So many days, the last one being today; at least one. Days that have begun where the user was
  ///   before, by another time zone, are told of as well.
  /// - Returns: The sums by day, and what is left of the budget.
  /// - Throws: ``ConfigurationError`` where a ledger cannot be read.
  public func report(days count: Int = 30) throws(ConfigurationError) -> UsageReport {
    let (all, foreignLineCount) = try naming { () throws(UsageFault) in try ledger.all() }
    let today = ledger.today()
    // Between the first and the last time zone lie 26 hours.
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
      foreignLineCount: foreignLineCount,
      folder: folder,
      earlier: all.filter { $0.day >= month && $0.day < days.lowerBound }
    )
  }

  /// Forgets all that was counted.
  ///
  /// - Throws: ``ConfigurationError`` where it cannot be removed.
  public func clear() throws(ConfigurationError) {
    try naming { () throws(UsageFault) in try ledger.clear() }
  }

  private func naming<Answer>(_ body: () throws(UsageFault) -> Answer) throws(ConfigurationError) -> Answer {
    do throws(UsageFault) {
      return try body()
    } catch {
      throw ConfigurationError([error.description], isSystemFailure: true)
    }
  }
}

/// Keeps the latest of the readouts, though several may be under way at once and end in any order.
///
/// Each reading takes a number as it begins; one that began later has seen all that one begun earlier has.
struct ReadoutLedger: Sendable {
  private(set) var latest: SettingsReadout?
  private var latestNumber = 0
  private var lastNumber = 0
  private var neededNumber = 1
  private var told: Set<SettingsWarning> = []

  /// Whether nothing has happened to the file since the latest readout began.
  var isCurrent: Bool { latestNumber >= neededNumber }

  /// How many readings have begun.
  var readings: Int { lastNumber }

  /// The file has changed: what is read from now on counts.
  mutating func invalidate() { neededNumber = lastNumber + 1 }

  mutating func beginReading() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Keeps a readout unless a later one is there already.
  ///
  /// - Returns: The latest of them.
  mutating func endReading(_ number: Int, _ readout: SettingsReadout) -> SettingsReadout {
    if number > latestNumber || latest == nil { (latestNumber, latest) = (number, readout) }
    return latest ?? readout
  }

  /// The warnings of the latest readout that have not been taken before.
  ///
  /// One that went away and came back is new.
  mutating func takeWarnings() -> [SettingsWarning] {
    let warnings = latest?.warnings ?? []
    defer { told = Set(warnings) }
    return warnings.filter { !told.contains($0) }
  }
}

package import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// What the network has brought, kept in files that any number of processes add to.
///
/// Nothing is opened before there is something to count or to tell.
package final class UsageLedger: UsageKeeping {
  private struct State {
    /// What could not be written yet.
    var unwritten = UsageSheet()
    /// The sums of ledgers as they were read last.
    var read: [String: (stamp: LedgerStamp, sheet: UsageSheet)] = [:]
    /// A ledger that has grown to this length is compacted.
    var compactionLength = UsageLedger.usualCompactionLength
    var isCompacting = false
    var wasFaultTold = false
    var wasGapTold = false
    var warnings: [String] = []

    mutating func takeUnwritten() -> UsageSheet {
      defer { unwritten = UsageSheet() }
      return unwritten
    }
  }

  /// About 400 lines, which are read in a tenth of a millisecond.
  private static let usualCompactionLength = 16 << 10

  private let folder: UsageFolder
  private let clock: @Sendable () -> Double
  /// Guards what is not on disk and what was read from there; files are touched outside.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: Where the ledgers are; need not exist.
  ///   - clock: Seconds since 1970.
  package init(folder: String, clock: @escaping @Sendable () -> Double) {
    self.folder = UsageFolder(path: folder)
    self.clock = clock
  }

  package func today() -> CalendarDay { LocalCalendar.day(at: clock()) }

  package func add(_ received: ByteCount, transfers: Int, network: NetworkKind, metered: Metered) {
    // Offline means that no way was seen; something has carried it all the same.
    let usage = NetworkUsage(
      day: today(),
      network: network == .offline ? .other : network,
      metered: metered,
      received: received,
      transfers: transfers
    )
    let sheet = state.withLock { state in
      state.unwritten.add(usage)
      return state.takeUnwritten()
    }
    write(sheet, within: LedgerFile.shortly)
  }

  @discardableResult package func flush() -> Bool {
    write(state.withLock { $0.takeUnwritten() }, within: LedgerFile.lastly)
    return state.withLock { $0.unwritten.isEmpty }
  }

  package func usage(on days: ClosedRange<CalendarDay>) -> [NetworkUsage] {
    var sum = state.withLock { $0.unwritten }
    for month in (try? months(in: days)) ?? [] {
      if let sheet = try? sheet(of: month) { sum.add(sheet) }
    }
    return sum.usage(on: days)
  }

  package func gap(on days: ClosedRange<CalendarDay>) -> String? {
    do throws(UsageFault) {
      for month in try months(in: days) { _ = try sheet(of: month) }
      return nil
    } catch {
      let words = error.description
      state.withLock { state in
        guard !state.wasGapTold else { return }
        state.wasGapTold = true
        state.warnings.append("the cellular-budget counts as spent: \(words)")
      }
      return words
    }
  }

  package func takeWarnings() -> [String] {
    state.withLock { state in
      defer { state.warnings = [] }
      return state.warnings
    }
  }

  /// Every day on which something was counted, and how many lines nobody understood.
  ///
  /// - Throws: ``UsageFault`` where a ledger cannot be read.
  package func all() throws(UsageFault) -> (usage: [NetworkUsage], foreignLineCount: Int) {
    var sum = state.withLock { $0.unwritten }
    var foreignLineCount = 0
    for month in try folder.months() {
      let sheet = try folder.ledger(of: month).sheet()
      sum.add(sheet)
      foreignLineCount += sheet.foreignLines.count
    }
    return (sum.usage(), foreignLineCount)
  }

  /// Forgets all that was counted.
  ///
  /// - Throws: ``UsageFault``; some months may be gone then.
  package func clear() throws(UsageFault) {
    state.withLock { $0.unwritten = UsageSheet() }
    for month in try folder.months() { try folder.ledger(of: month).remove() }
  }

  // MARK: Writing

  private func write(_ sheet: UsageSheet, within tries: Int) {
    var rest = sheet.usage()
    while let month = rest.first?.day.monthText {
      let lines = rest.prefix { $0.day.monthText == month }
      do throws(UsageFault) {
        let (count, length) = try append(
          lines.map(UsageLine.init),
          to: folder.ledger(of: month),
          within: tries
        )
        guard count > 0 else { break }
        rest.removeFirst(count)
        compact(month, length)
      } catch {
        tell(error)
        break
      }
    }
    guard !rest.isEmpty else { return }
    state.withLock { state in
      for usage in rest { state.unwritten.add(usage) }
    }
  }

  private func append(
    _ lines: [UsageLine],
    to ledger: LedgerFile,
    within tries: Int
  ) throws(UsageFault) -> (count: Int, length: Int) {
    do throws(UsageFault) {
      return try ledger.append(lines, within: tries)
    } catch {
      guard error.isMissing else { throw error }
      try folder.make()
      return try ledger.append(lines, within: tries)
    }
  }

  private func tell(_ fault: UsageFault) {
    // Another replaces the file: the next to be counted takes along what is unwritten.
    guard !fault.isBusy else { return }
    state.withLock { state in
      guard !state.wasFaultTold else { return }
      state.wasFaultTold = true
      state.warnings.append("usage is counted in memory alone: \(fault)")
    }
  }

  /// Compacts a ledger that has grown long, on a thread of its own, as the disk may take its time.
  private func compact(_ month: String, _ length: Int) {
    let isDue = state.withLock { state in
      guard !state.isCompacting, length >= state.compactionLength else { return false }
      state.isCompacting = true
      return true
    }
    guard isDue else { return }
    let ledger = folder.ledger(of: month)
    let work: @Sendable () -> Void = { [weak self] in
      let length = (try? ledger.compact()) ?? nil
      self?.state.withLock { state in
        state.isCompacting = false
        // What cannot be compacted is left alone until it is twice as long.
        state.compactionLength = max(Self.usualCompactionLength, 2 * (length ?? state.compactionLength))
      }
    }
    if !SystemThread.start("feedimg-usage", work) { work() }
  }

  // MARK: Reading

  private func months(in days: ClosedRange<CalendarDay>) throws(UsageFault) -> [String] {
    let (first, last) = (days.lowerBound.monthText, days.upperBound.monthText)
    // A month or two need no look at the folder.
    if days.upperBound.daysSince1970 - days.lowerBound.daysSince1970 < 32 {
      return first == last ? [first] : [first, last]
    }
    return try folder.months().filter { $0 >= first && $0 <= last }
  }

  /// The sums of a month; those that were read last where it cannot be read any longer.
  private func sheet(of month: String) throws(UsageFault) -> UsageSheet {
    let ledger = folder.ledger(of: month)
    let known = state.withLock { $0.read[month] }
    do throws(UsageFault) {
      guard let stamp = try ledger.stamp() else { return UsageSheet() }
      if let known, known.stamp == stamp { return known.sheet }
      let sheet = try ledger.sheet()
      // Taken before reading: what came meanwhile is read again.
      state.withLock { $0.read[month] = (stamp, sheet) }
      return sheet
    } catch {
      guard let known else { throw error }
      return known.sheet
    }
  }
}

extension UsageFault {
  fileprivate var isMissing: Bool { reason == ENOENT }
  fileprivate var isBusy: Bool { reason == EWOULDBLOCK }
}

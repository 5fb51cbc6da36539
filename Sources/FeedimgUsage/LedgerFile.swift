import FeedimgModel
import Glibc

/// The ledger of one month: a text file that processes append lines to at the same time.
///
/// Who appends holds a shared lock, and who replaces or removes the file the sole one, on the file itself; whoever has
/// the lock looks whether the file is still the one of that name. A line is written by one call, which the kernel does
/// not mix with those of others (`O_APPEND`), so that a process which is killed leaves a whole line or none. No lock is
/// waited for without end: a process that was stopped may hold one.
struct LedgerFile {
  /// How often a lock is tried, a millisecond apart: while transfers wait, at the end of a program, and where nobody
  /// waits.
  static let (shortly, lastly, patiently) = (10, 250, 1000)

  let path: String

  init(folder: String, month: String) { path = "\(folder)/\(month).txt" }

  /// The month that a file name stands for, such as `2026-11`; nil for any other file.
  static func month(ofName name: String) -> String? {
    guard name.hasSuffix(".txt"), name.utf8.count == 11 else { return nil }
    let month = String(name.dropLast(4))
    return CalendarDay("\(month)-01") == nil ? nil : month
  }

  /// What a compaction that was killed has left.
  private var leftover: String { "\(path).new" }

  /// Adds lines at the end, each by one call.
  ///
  /// - Parameters:
  ///   - lines: What to add.
  ///   - tries: How often to try to get the lock.
  /// - Returns: How many of them were added, fewer on a disk that is full, and the length of the file then.
  /// - Throws: ``UsageFault``, `EWOULDBLOCK` where another is replacing the file; where no line at all was added.
  func append(
    _ lines: [UsageLine],
    within tries: Int = shortly
  ) throws(UsageFault) -> (count: Int, length: Int) {
    let file = try LockedLedger(path, LOCK_SH, within: tries, O_RDWR | O_APPEND | O_CREAT)
    var length = try file.length()
    // A torn line is written again by whoever wrote it, so what there is of it must not become whole. Another may also
    // just be writing the rest of one: behind that, it is a remark.
    var lead = length == 0 ? UsageSheet.heading : try file.endsWithin(length) ? Array("#\n".utf8) : []
    for (count, line) in lines.enumerated() {
      let bytes = lead + line.bytes
      do throws(UsageFault) {
        try file.writeAll(bytes)
      } catch {
        guard count > 0 else { throw error }
        return (count, length)
      }
      length += bytes.count
      lead = []
    }
    return (lines.count, length)
  }

  /// Replaces the file by one that says the same in fewer lines; others may append meanwhile.
  ///
  /// - Returns: The length of the file then; nil where it is gone, or where another does the same.
  /// - Throws: ``UsageFault``; the file is then as before.
  @discardableResult func compact() throws(UsageFault) -> Int? {
    do throws(UsageFault) {
      // Its lock keeps others from compacting at the same time.
      let new = try LockedLedger(leftover, LOCK_EX, within: 0, O_WRONLY | O_CREAT)
      do throws(UsageFault) {
        return try replace(by: new)
      } catch {
        unlink(new.path)
        throw error
      }
    } catch {
      guard error.reason == ENOENT || error.reason == EWOULDBLOCK else { throw error }
      return nil
    }
  }

  private func replace(by new: borrowing LockedLedger) throws(UsageFault) -> Int {
    let old = try OpenLedger(path, O_RDONLY)
    let (sheet, end) = try old.sheet()
    let content = sheet.compacted
    try new.replaceContent(with: content)
    // From here on others wait, so all that takes time is done before.
    let file = try LockedLedger(path, LOCK_EX, within: Self.patiently, O_RDONLY)
    guard try file.status().st_ino == old.status().st_ino else {
      throw UsageFault("replace", path, reason: EWOULDBLOCK)
    }
    // What was appended since.
    let rest = try file.read(from: end)
    try new.writeAll(rest)
    guard rename(new.path, path) == 0 else { throw UsageFault("replace", path) }
    return content.count + rest.count
  }

  /// Removes the file, and what a compaction has left of it; that they are not there is as good.
  func remove() throws(UsageFault) {
    try Self.remove(path, within: Self.patiently)
    do throws(UsageFault) {
      try Self.remove(leftover, within: 0)
    } catch {
      // Who compacts finds the file gone, and removes it.
      guard error.reason == EWOULDBLOCK else { throw error }
    }
  }

  private static func remove(_ path: String, within tries: Int) throws(UsageFault) {
    do throws(UsageFault) {
      let file = try LockedLedger(path, LOCK_EX, within: tries, O_RDONLY)
      guard unlink(file.path) == 0 else { throw UsageFault("remove", path) }
    } catch {
      guard error.reason == ENOENT else { throw error }
    }
  }

  /// What tells this content from an earlier one: the file and its length, as lines are only ever added; nil where there
  /// is none.
  ///
  /// - Throws: ``UsageFault`` where the file cannot be looked at.
  func stamp() throws(UsageFault) -> LedgerStamp? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw UsageFault("read", path) }
      return nil
    }
    return LedgerStamp(
      inode: status.st_ino,
      length: status.st_size,
      seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec
    )
  }

  /// The sums of all lines; none where there is no file.
  ///
  /// - Throws: ``UsageFault``.
  func sheet() throws(UsageFault) -> UsageSheet {
    do throws(UsageFault) {
      return try OpenLedger(path, O_RDONLY).sheet().sheet
    } catch {
      guard error.reason == ENOENT else { throw error }
      return UsageSheet()
    }
  }
}

/// Tells one content of a ledger from another.
struct LedgerStamp: Sendable, Hashable {
  var inode: ino_t
  var length: off_t
  var seconds: Int
  var nanoseconds: Int
}

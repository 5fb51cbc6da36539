import Glibc

/// The folder that holds a ledger for each month.
struct UsageFolder: Sendable {
  let path: String

  func ledger(of month: String) -> LedgerFile { LedgerFile(folder: path, month: month) }

  /// Makes the folder and those above it that are missing, for the user alone, as XDG has it.
  func make() throws(UsageFault) { try Self.make(path) }

  /// The months that there are ledgers of, or leftovers of their compaction, the earliest first; none where there is no
  /// folder.
  ///
  /// - Throws: ``UsageFault`` where the folder cannot be read.
  func months() throws(UsageFault) -> [String] {
    guard let folder = opendir(path) else {
      guard errno == ENOENT else { throw UsageFault("read", path) }
      return []
    }
    defer { closedir(folder) }
    var months: Set<String> = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      let ledger = name.hasSuffix(".new") ? String(name.dropLast(4)) : name
      if let month = LedgerFile.month(ofName: ledger) { months.insert(month) }
    }
    return months.sorted()
  }

  private static func make(_ folder: String) throws(UsageFault) {
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else {
      throw UsageFault("make", folder)
    }
    try make(String(folder[..<slash]))
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw UsageFault("make", folder) }
  }
}

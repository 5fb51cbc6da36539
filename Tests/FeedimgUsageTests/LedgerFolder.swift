import FeedimgSQLite
import FoundationEssentials
import Glibc

/// A folder for one test, removed with it.
final class LedgerFolder: Sendable {
  let root: String

  /// The folder of the ledger, which does not exist yet.
  var path: String { root + "/state/feedimg/usage" }

  init() throws {
    root = FileManager.default.temporaryDirectory.path + "/feedimg-usage-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func text(of name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
  }

  func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }

  /// The path of the database.
  var database: String { path + "/usage.sqlite" }

  /// The rows of the database, such as `2026-11-21 wifi unmetered 5 1`.
  func rows() throws -> [String] {
    var rows: [String] = []
    try SQLiteConnection(path: database, access: .write).statement("SELECT * FROM usage ORDER BY 1, 2, 3")
      .forEachRow { row in
        let words = (0..<3).map { column in row.withText(column) { String(decoding: $0, as: UTF8.self) } }
        rows.append((words + [3, 4].map { String(row.integer($0)) }).joined(separator: " "))
        return true
      }
    return rows
  }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}

/// Noon of a day in the time zone of the test.
///
/// Only the days matter.
func noon(_ year: Int32, _ month: Int32, _ day: Int32) -> Double {
  var parts = tm()
  (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour) = (year - 1900, month - 1, day, 12)
  parts.tm_isdst = -1
  return Double(mktime(&parts))
}

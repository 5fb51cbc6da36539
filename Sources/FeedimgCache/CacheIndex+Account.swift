import FeedimgModel

extension CacheIndex {
  /// When the entries unused and used for longest were last used; nil where there are none.
  func useRange() throws(SQLiteError) -> ClosedRange<Int>? {
    let select = try connection.statement("SELECT count(*), min(used_at), max(used_at) FROM entry")
    let range = try select.first { row -> ClosedRange<Int>? in
      let (first, last) = (row.integer(1), row.integer(2))
      return row.integer(0) == 0 || first > last ? nil : first...last
    }
    return range ?? nil
  }

  func count(of tally: Tally) throws(SQLiteError) -> Int {
    let select = try connection.statement("SELECT count FROM account WHERE line = ?1")
    return try select.first([.integer(tally.rawValue)]) { $0.integer(0) } ?? 0
  }
}

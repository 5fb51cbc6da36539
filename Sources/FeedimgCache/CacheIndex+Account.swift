import FeedimgModel

extension CacheIndex {
  /// When the entries unused and used for longest were last used; nil where there are none.
  func useRange() throws(SQLiteError) -> ClosedRange<Int>? {
    var range: ClosedRange<Int>?
    for budget in Budget.allCases {
      // Each is found at one end of the tree, so that it takes no longer the more is stored.
      guard let first = try use(in: budget, "used_at"), let last = try use(in: budget, "used_at DESC"),
        first <= last
      else { continue }
      range = min(first, range?.lowerBound ?? first)...max(last, range?.upperBound ?? last)
    }
    return range
  }

  private func use(in budget: Budget, _ order: String) throws(SQLiteError) -> Int? {
    let sql = "SELECT used_at FROM entry WHERE role = ?1 ORDER BY \(order) LIMIT 1"
    return try connection.statement(sql).first([.integer(budget.rawValue)]) { $0.integer(0) }
  }

  /// Whether there is no row, and none that a catalog would bring.
  func isEmpty() throws(SQLiteError) -> Bool {
    let row = try connection.statement("SELECT 1 FROM entry LIMIT 1").first { $0.integer(0) }
    guard row == nil else { return false }
    return try unreadShards().isEmpty
  }

  func count(of tally: Tally) throws(SQLiteError) -> Int {
    let select = try connection.statement("SELECT count FROM account WHERE line = ?1")
    return try select.first([.integer(tally.rawValue)]) { $0.integer(0) } ?? 0
  }
}

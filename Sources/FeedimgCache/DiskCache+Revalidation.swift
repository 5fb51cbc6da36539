package import FeedimgModel

extension DiskCache {
  /// The answer that brought the image of a key, for freshness and validation; nil where there is none.
  ///
  /// The body is not looked at, and the entry does not count as used.
  package func answer(for key: String) -> StoredAnswer? {
    record(of: key).flatMap(StoredAnswer.init(_:))
  }

  /// Takes the news of a 304 into what is stored, whose body stays (RFC 9111 §4.3.4).
  ///
  /// - Parameters:
  ///   - key: The key of the image that was asked about.
  ///   - fields: Those of the answer 304.
  ///   - requestedAt: When it was asked, in seconds since 1970.
  ///   - respondedAt: When it was answered, in seconds since 1970.
  /// - Returns: What is stored now; nil where the image has gone, or the 304 is about another version of it.
  /// - Throws: ``CacheError`` when the index cannot be written. What was stored stays as it was then.
  @discardableResult
  package func refresh(
    _ key: String,
    with fields: HTTPFields,
    requestedAt: Double,
    respondedAt: Double
  ) throws(CacheError) -> StoredAnswer? {
    // Another process may do the same at the same time; whoever comes second looks again.
    for _ in 0..<3 {
      guard let record = record(of: key), let answer = StoredAnswer(record) else { return nil }
      guard Validators(of: answer).match(notModified: fields) else { return nil }
      let updated = answer.updated(by: fields, requestedAt: requestedAt, respondedAt: respondedAt)
      let line = record.updated(by: updated).line
      let isReplaced = try pool.write { index throws(SQLiteError) in try index.replace(record, with: line) }
      guard isReplaced else { continue }
      // The last line of a body is the one that counts.
      try? Catalog(path: folder.catalog(of: record.body.shard)).append(line: line)
      return updated
    }
    return nil
  }

  private func record(of key: String) -> EntryRecord? {
    guard let entry = entry(of: key), entry.usedAt >= expiry else { return nil }
    return entry.record
  }
}

package import FeedimgModel
import FeedimgSQLite

extension DiskCache {
  package func response(for key: String) -> StoredResponse? {
    record(of: key).flatMap(StoredResponse.init(_:))
  }

  package func response(for key: String, to request: HTTPFields) -> StoredResponse? {
    guard let found = find(key, for: request), !isExpired(found.entry) else { return nil }
    return found.answer
  }

  /// What is known of the image of a key; its body is not looked at, and it does not count as used.
  package func image(of key: String) -> StoredImage? {
    guard let entry = entry(of: key), entry.usedAt >= expiry else { return nil }
    var image = entry.record.storedImage(
      path: folder.path(of: entry.record.body),
      usedAt: Double(entry.usedAt)
    )
    image.answer = StoredResponse(entry.record)
    return image
  }

  @discardableResult
  package func refresh(
    _ key: String,
    asked: StoredResponse,
    news: StoredResponse
  ) throws(CacheError) -> StoredResponse? {
    let isHead = news.head.status == 200
    // Anything else says nothing of what is stored.
    guard isHead || news.head.status == 304 else { return nil }
    let version = Validators(of: asked)
    // Another process may do the same at the same time; whoever comes second looks again.
    for _ in 0..<3 {
      guard let found = find(key, for: asked.varied), let answer = found.answer, !isExpired(found.entry)
      else {
        return nil
      }
      let record = found.entry.record
      let stored = Validators(of: answer)
      guard stored.isSameVersion(as: version) else { return nil }
      guard isHead || stored.match(notModified: news.head.fields) else { return nil }
      let updated = isHead ? answer.updated(byHead: news, size: record.size) : answer.updated(by: news)
      let new = record.updated(by: updated)
      let isReplaced = try pool.write { index throws(SQLiteError) in try index.replace(record, with: new) }
      if isReplaced { return updated }
    }
    return nil
  }

  private func record(of key: String) -> EntryRecord? {
    guard let entry = entry(of: key), !isExpired(entry) else { return nil }
    return entry.record
  }
}

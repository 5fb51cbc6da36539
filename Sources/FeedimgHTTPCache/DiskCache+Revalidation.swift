package import FeedimgModel
import FeedimgSQLite

extension DiskCache {
  package func response(for key: String, to request: HTTPFields?) -> StoredResponse? {
    guard let found = find(key, for: request), !isExpired(found.entry) else { return nil }
    return found.response
  }

  /// The description of the image of a key, without reading its body or counting a use.
  package func image(of key: String) -> StoredImage? {
    guard let entry = entry(of: key), !isExpired(entry) else { return nil }
    var image = image(entry)
    image.response = StoredResponse(entry.record)
    return image
  }

  @discardableResult
  package func refresh(
    _ key: String,
    asked: StoredResponse,
    news: StoredResponse
  ) throws(CacheError) -> StoredResponse? {
    let version = Validators(of: asked)
    // Another process may replace the entry between the read and the write: read again then.
    for _ in 0..<3 {
      guard let found = find(key, for: asked.varied), let response = found.response, !isExpired(found.entry)
      else {
        return nil
      }
      let record = found.entry.record
      guard Validators(of: response).isSameVersion(as: version),
        let updated = response.validated(by: news, size: record.size)
      else { return nil }
      let new = record.updated(by: updated)
      let isReplaced = try pool.write { index throws(SQLiteError) in try index.replace(record, with: new) }
      if isReplaced { return updated }
    }
    return nil
  }
}

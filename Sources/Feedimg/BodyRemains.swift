import FeedimgModel

/// What is kept of an image whose transfer broke off.
struct BodyRemains: Sendable, Hashable {
  /// So many bytes were kept before.
  let before: Int
  /// So many are kept now.
  let count: Int
  /// The length of the whole; nil where nobody knows.
  let total: Int?

  /// So many bytes are worth another connection, however long the image.
  static let goodPart = 64 << 10

  /// Whether so much has come that to go on is no mere repetition: 64 KiB, or a tenth of what was missing.
  ///
  /// - Parameter start: So many bytes had been kept by an earlier try, perhaps in vain.
  /// - Returns: Whether it is worth another connection.
  func isGoodPart(beyond start: Int = 0) -> Bool {
    let before = max(before, start)
    let gain = count - before
    return gain >= Self.goodPart || gain > 0 && total.map { gain >= ($0 - before + 9) / 10 } ?? false
  }

  /// The same error, which also tells how far the image has come where that is more than it says itself.
  func noted(in error: LoadError) -> LoadError {
    guard before > 0 else { return error }
    var error = error
    error.message += "; \(count) \(total.map { "of \($0) " } ?? "")bytes are kept"
    return error
  }
}

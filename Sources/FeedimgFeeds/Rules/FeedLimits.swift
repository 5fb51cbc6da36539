/// The limits of a document's entries and warnings.
enum FeedLimits {
  /// The length limit of an entry, in bytes; a longer one is skipped with a warning.
  static let entryLength = 16 << 20
  /// The most warnings to keep.
  static let warnings = 100
}

/// The limits of the parts of a document.
enum FeedLimits {
  /// The length limit of an entry of RSS or Atom, in bytes; a longer one is skipped with a warning.
  static let entryLength = 16 << 20
  /// The length limit of a base URL in a document, in bytes; a longer one is ignored.
  ///
  /// Each relative reference copies its base, so a long base would multiply the memory for a document.
  static let baseLength = 1 << 10
  /// The most candidates of a `srcset`; more are ignored.
  static let candidates = 100
  /// The most versions of the pictures of an entry; more are ignored with a warning.
  static let versions = 10_000
  /// The most warnings to keep.
  static let warnings = 100
}

import FeedimgModel

/// What the bytes of an entry count against; the number is its line in the account of the index.
package enum Budget: Int, Sendable, Hashable, CaseIterable {
  case originals = 0
  case thumbnails = 1
  /// Of either role; nothing gives way in it, and nothing more is taken in once it is full.
  case pinned = 4

  /// Those whose entries give way to others and expire, from the one that others need least offline.
  static let yielding: [Budget] = [.originals, .thumbnails]

  init(_ role: ImageVariant.Role) { self = role == .original ? .originals : .thumbnails }
}

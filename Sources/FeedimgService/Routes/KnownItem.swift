import FeedimgModel
import Synchronization

/// An item that clients ask for again and again, with what was said last of its image.
final class KnownItem: Sendable {
  /// What the fields of an image depend on, but for those that tell of a moment.
  struct Basis: Sendable, Hashable {
    var variant: ImageVariant
    var policy: String
    var rule: Int
    var tag: EntityTag
    var mediaType: String
  }

  let item: FeedItem
  private let latest = Mutex<(basis: Basis, lines: FieldLines)?>(nil)

  init(_ item: FeedItem) { self.item = item }

  /// The one item that a text is; nil where it is something else.
  convenience init?(_ text: String) {
    guard let read = try? FeedItem.items(json: Array(text.utf8)), read.count == 1 else { return nil }
    self.init(read[0])
  }

  /// The lines for an image on that basis.
  ///
  /// - Parameters:
  ///   - basis: What they depend on.
  ///   - make: Puts them together where they were other ones before.
  /// - Returns: Nil where they cannot be sent.
  func lines(_ basis: Basis, _ make: () -> FieldLines?) -> FieldLines? {
    if let known = latest.withLock({ $0?.basis == basis ? $0?.lines : nil }) { return known }
    let lines = make()
    latest.withLock { $0 = lines.map { (basis, $0) } }
    return lines
  }
}

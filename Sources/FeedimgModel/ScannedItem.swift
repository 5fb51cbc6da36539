/// Where in a document the parts of an item stand that its decision depends on, and those that the answer repeats.
package struct ScannedItem: Sendable {
  /// Some bytes of a document.
  package struct Span: Sendable {
    /// Negative where there are none.
    package var start = -1
    package var count = 0

    package var isThere: Bool { start >= 0 }
    package var range: Range<Int> { max(0, start)..<max(0, start) + count }
  }

  /// The item as a whole.
  package var whole = Span()
  /// The feed's own name for it; like all that follows, so plain that it can be repeated as it stands.
  package var id = Span()
  /// The URL, which is its own ``ImageURL/key``, and not of this machine.
  package var original = Span()
  package var thumbnail = Span()
  /// The encoded length of the original; negative where it is not told.
  package var size = -1
  package var blurHash = Span()
  package var thumbHash = Span()
  package var color = Span()
  /// Where the item is among ``FeedItemBatch/unusual``; negative for one that was scanned.
  package var unusual = -1

  package subscript(role: ImageVariant.Role) -> Span { role == .original ? original : thumbnail }
}

import FeedimgJSON

/// Some items of a document, in their order, as ``FeedItemReader`` hands them over.
///
/// Holds them as they stand in the document, so that deciding about very many takes little time.
public struct FeedItemBatch: Sendable {
  /// The part of the document that the items stand in.
  package let bytes: [UInt8]
  package let scanned: [ScannedItem]
  /// Those that were read whole, because there is something about them.
  package let unusual: [FeedItem]

  /// How many items there are; there may be none.
  public var count: Int { scanned.count }

  /// The items with all that they tell.
  public var items: [FeedItem] { scanned.compactMap(item) }

  /// The item with all that it tells.
  package func item(_ scanned: ScannedItem) -> FeedItem? {
    if scanned.unusual >= 0 { return unusual[scanned.unusual] }
    // What could be scanned is an item.
    guard let value = try? JSONReader.value(in: bytes[scanned.whole.range]) else { return nil }
    return try? FeedItem(json: value)
  }
}

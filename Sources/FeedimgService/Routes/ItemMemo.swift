import FeedimgModel
import Synchronization

/// The items that clients ask for again and again, as they were read first.
final class ItemMemo: Sendable {
  /// More than are on a screen; longer texts are read each time.
  private static let (greatestCount, greatestLength) = (512, 2048)

  private let items = Mutex<[String: FeedItem]>([:])

  /// The one item that a text is; nil where it is something else.
  func item(_ text: String) -> FeedItem? {
    if let known = items.withLock({ $0[text] }) { return known }
    guard let read = try? FeedItem.items(json: Array(text.utf8)), read.count == 1 else { return nil }
    if text.utf8.count <= Self.greatestLength {
      items.withLock { items in
        if items.count >= Self.greatestCount { items.removeAll() }
        items[text] = read[0]
      }
    }
    return read[0]
  }
}

package import FeedimgModel

/// Which decoded image: of a URL, at a size and in a pixel format.
package struct DecodedKey: Sendable, Hashable {
  /// ``ImageURL/key`` of the image.
  package var url: String
  package var size: DisplaySize
  package var format: Bitmap.Format

  package init(url: String, size: DisplaySize, format: Bitmap.Format) {
    self.url = url
    self.size = size
    self.format = format
  }
}

/// Decoded images within a budget, found by size and forgotten by URL (pure).
struct DecodedImages: Sendable {
  struct Entry: Sendable {
    var key: DecodedKey
    var bitmap: Bitmap
    /// Of the bytes that it was decoded from.
    var checksum: UInt64
  }

  private(set) var store: BoundedStore<DecodedKey, Entry>
  private var keys: [String: Set<DecodedKey>] = [:]

  init(limit: ByteCount) { store = BoundedStore(limit: limit) }

  /// The pixels of a key, which thereby count as used; of these bytes alone, if their checksum is given.
  mutating func use(_ key: DecodedKey, of checksum: UInt64?) -> Bitmap? {
    if let checksum, store.peek(key)?.checksum != checksum { return nil }
    return store.use(key)?.bitmap
  }

  /// - Returns: What gives way, to be let go of outside of a lock.
  mutating func insert(_ entry: Entry, cost: Int) -> [Entry] {
    let gone = forget(store.insert(entry, for: entry.key, cost: cost))
    if store.contains(entry.key) { keys[entry.key.url, default: []].insert(entry.key) }
    return gone
  }

  /// Whether there are pixels of an image, whatever their size.
  func contains(_ url: String) -> Bool { keys[url] != nil }

  /// Removes all sizes of an image, but for those of the bytes with this checksum.
  mutating func remove(_ url: String, exceptOf checksum: UInt64? = nil) -> [Entry] {
    let outdated = (keys[url] ?? []).filter { checksum == nil || store.peek($0)?.checksum != checksum }
    return forget(outdated.flatMap { store.remove($0) })
  }

  mutating func shrink(to target: Int) -> [Entry] { forget(store.shrink(to: target)) }

  mutating func setLimit(_ limit: ByteCount) -> [Entry] { forget(store.setLimit(limit)) }

  private mutating func forget(_ gone: [Entry]) -> [Entry] {
    for entry in gone {
      keys[entry.key.url]?.remove(entry.key)
      if keys[entry.key.url]?.isEmpty == true { keys[entry.key.url] = nil }
    }
    return gone
  }
}

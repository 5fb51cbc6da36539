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

/// Encoded images within a budget of bytes, some of them with a second copy in another form (pure).
///
/// A copy counts within the budget, beside the image that it is of, and goes with it. There are few, and they take a
/// quarter of the budget at most: of several, the one whose image was used least recently gives way.
struct EncodedImages: Sendable {
  /// The same bytes once more, in a form that only who made it knows.
  struct Copy: Sendable {
    var form: any AnyObject & Sendable
    /// What it takes, in bytes.
    var cost: Int
  }

  struct Entry: Sendable {
    var key: String
    var image: MemoryCache.Image
    var copy: Copy?
  }

  /// What a copy may have of the system besides memory, such as a descriptor, is short as well.
  static let greatestCopyCount = 64

  private(set) var store: BoundedStore<String, Entry>
  /// Of the images that have one.
  private var copies = RecencyOrder<String>()
  private(set) var copyCost = 0

  init(limit: ByteCount) { store = BoundedStore(limit: limit) }

  var copyCount: Int { copies.count }

  /// The image of a key with its copy, which thereby counts as used.
  mutating func use(_ key: String) -> Entry? {
    guard let entry = store.use(key) else { return nil }
    if entry.copy != nil { copies.use(key) }
    return entry
  }

  /// The bytes of a key, which do not count as used.
  func bytes(_ key: String) -> [UInt8]? { store.peek(key)?.image.bytes }

  /// - Returns: What gives way, to be let go of outside of a lock.
  mutating func insert(_ image: MemoryCache.Image, for key: String) -> [Entry] {
    let cost = image.bytes.count + MemoryCache.overhead
    return forget(store.insert(Entry(key: key, image: image), for: key, cost: cost))
  }

  /// Takes news of the response that brought an image, where that is still the one; it thereby counts as used.
  ///
  /// - Returns: What gives way, to be let go of outside of a lock.
  mutating func update(_ key: String, from asked: StoredResponse, to updated: StoredResponse) -> [Entry] {
    guard store.use(key)?.image.response == asked else { return [] }
    return forget(store.change(key, costBy: 0) { $0.image.response = updated })
  }

  /// Keeps a copy of an image.
  ///
  /// - Parameters:
  ///   - copy: Of all its bytes.
  ///   - bytes: Those, as they were found here: of another version nothing is kept.
  ///   - key: That of the image.
  /// - Returns: Whether it is kept, and what gives way, to be let go of outside of a lock.
  mutating func keep(_ copy: Copy, of bytes: [UInt8], for key: String) -> (isKept: Bool, gone: [Entry]) {
    let most = store.limit / 4
    guard copy.cost <= most, let entry = store.peek(key), entry.copy == nil,
      entry.image.bytes.isIdentical(to: bytes)
    else { return (false, []) }
    var gone: [Entry] = []
    while copies.count >= Self.greatestCopyCount || copyCost > most - copy.cost, let last = copies.leastRecent
    {
      gone += removeCopy(last)
    }
    // Used last, it is not among what gives way.
    _ = store.use(key)
    copies.use(key)
    copyCost += copy.cost
    gone += forget(store.change(key, costBy: copy.cost) { $0.copy = copy })
    return (true, gone)
  }

  /// Removes all copies.
  mutating func removeCopies() -> [Entry] {
    var gone: [Entry] = []
    while let key = copies.leastRecent { gone += removeCopy(key) }
    return gone
  }

  mutating func remove(_ key: String) -> [Entry] { forget(store.remove(key)) }

  mutating func shrink(to target: Int) -> [Entry] { forget(store.shrink(to: target)) }

  mutating func setLimit(_ limit: ByteCount) -> [Entry] { forget(store.setLimit(limit)) }

  private mutating func removeCopy(_ key: String) -> [Entry] {
    copies.remove(key)
    guard let entry = store.peek(key), let copy = entry.copy else { return [] }
    copyCost -= copy.cost
    return [entry] + forget(store.change(key, costBy: -copy.cost) { $0.copy = nil })
  }

  private mutating func forget(_ gone: [Entry]) -> [Entry] {
    for entry in gone {
      guard let copy = entry.copy else { continue }
      copies.remove(entry.key)
      copyCost -= copy.cost
    }
    return gone
  }
}

extension [UInt8] {
  /// Whether these are the same bytes in the same place, which takes no time to tell.
  func isIdentical(to other: [UInt8]) -> Bool {
    withUnsafeBufferPointer { left in
      other.withUnsafeBufferPointer { $0.baseAddress == left.baseAddress && $0.count == left.count }
    }
  }
}

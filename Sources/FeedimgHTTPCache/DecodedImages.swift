package import FeedimgModel

/// The key of a decoded image: its URL, size and pixel format.
package struct DecodedKey: Sendable, Hashable {
  /// ``ImageURL/key`` of the image.
  package var url: String
  package var size: DisplaySize
  package var format: Bitmap.Format
  /// The identifiers of the processors, in order.
  package var processors: [String]

  package init(url: String, size: DisplaySize, format: Bitmap.Format, processors: [String] = []) {
    self.processors = processors
    self.url = url
    self.size = size
    self.format = format
  }
}

/// Decoded images within a budget (pure).
struct DecodedImages: Sendable {
  struct Entry: Sendable {
    var key: DecodedKey
    var bitmap: Bitmap
    /// The checksum of the encoded bytes.
    var checksum: UInt64
  }

  private(set) var store: BoundedStore<DecodedKey, Entry>
  private var keys: [String: Set<DecodedKey>] = [:]

  init(limit: ByteCount) { store = BoundedStore(limit: limit) }

  /// The pixels of a key, counted as used; nil if they were decoded from bytes with another checksum.
  mutating func use(_ key: DecodedKey, of checksum: UInt64?) -> Bitmap? {
    if let checksum, store.peek(key)?.checksum != checksum { return nil }
    return store.use(key)?.bitmap
  }

  /// - Returns: The evicted entries, for the caller to release outside its lock.
  mutating func insert(_ entry: Entry, cost: Int) -> [Entry] {
    let gone = forget(store.insert(entry, for: entry.key, cost: cost))
    if store.contains(entry.key) { keys[entry.key.url, default: []].insert(entry.key) }
    return gone
  }

  /// Whether an image has pixels of any size.
  func contains(_ url: String) -> Bool { keys[url] != nil }

  /// Removes all sizes of an image, except those with this checksum.
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

/// Encoded images within a budget, some of them with a copy in another form (pure).
///
/// A copy counts within the budget and is removed with its image. All copies take at most a quarter of the budget.
/// Beyond that, the copy of the least recently used image is removed.
struct EncodedImages: Sendable {
  /// The same bytes in a form that only its maker knows.
  struct Copy: Sendable {
    var form: any AnyObject & Sendable
    /// The size of the copy, in bytes.
    var cost: Int
  }

  struct Entry: Sendable {
    var key: String
    var image: MemoryCache.Image
    var copy: Copy?
  }

  /// Limited in number, too, because a copy may hold a scarce resource such as a descriptor.
  static let maximumCopyCount = 64

  private(set) var store: BoundedStore<String, Entry>
  /// The keys of images with a copy.
  private var copies = RecencyOrder<String>()
  private(set) var copyCost = 0

  init(limit: ByteCount) { store = BoundedStore(limit: limit) }

  var copyCount: Int { copies.count }

  /// The image of a key with its copy, counted as used.
  mutating func use(_ key: String) -> Entry? {
    guard let entry = store.use(key) else { return nil }
    if entry.copy != nil { copies.use(key) }
    return entry
  }

  func contains(_ key: String) -> Bool { store.contains(key) }

  /// The bytes of a key, without counting a use.
  func bytes(_ key: String) -> [UInt8]? { store.peek(key)?.image.bytes }

  /// - Returns: The evicted entries, for the caller to release outside its lock.
  mutating func insert(_ image: MemoryCache.Image, for key: String) -> [Entry] {
    let cost = image.bytes.count + MemoryCache.overhead
    return forget(store.insert(Entry(key: key, image: image), for: key, cost: cost))
  }

  /// Whether a key has this image, not another one.
  func has(_ image: MemoryCache.Image, for key: String) -> Bool {
    store.peek(key)?.image.bytes.isIdentical(to: image.bytes) ?? false
  }

  /// Notes the file of an image, unless another image has replaced it.
  mutating func noteFile(_ path: String?, of image: MemoryCache.Image, for key: String) {
    guard has(image, for: key) else { return }
    _ = store.change(key, costBy: 0) { $0.image.path = path }
  }

  /// Updates the response of an image if it is still `asked`, and counts a use.
  ///
  /// - Returns: The evicted entries, for the caller to release outside its lock.
  mutating func update(_ key: String, from asked: StoredResponse, to updated: StoredResponse) -> [Entry] {
    guard store.use(key)?.image.response == asked else { return [] }
    return forget(store.change(key, costBy: 0) { $0.image.response = updated })
  }

  /// Keeps a copy of an image, unless the key has other bytes than these by now.
  ///
  /// - Returns: Whether it is kept, and the evicted entries, for the caller to release outside its lock.
  mutating func keep(_ copy: Copy, of bytes: [UInt8], for key: String) -> (isKept: Bool, gone: [Entry]) {
    let most = store.limit / 4
    guard copy.cost <= most, let entry = store.peek(key), entry.copy == nil,
      entry.image.bytes.isIdentical(to: bytes)
    else { return (false, []) }
    var gone: [Entry] = []
    while copies.count >= Self.maximumCopyCount || copyCost > most - copy.cost,
      let last = copies.minimumRecent
    {
      gone += removeCopy(last)
    }
    // As the most recently used one, the image is not evicted for its own copy.
    _ = store.use(key)
    copies.use(key)
    copyCost += copy.cost
    gone += forget(store.change(key, costBy: copy.cost) { $0.copy = copy })
    return (true, gone)
  }

  mutating func removeCopies() -> [Entry] {
    var gone: [Entry] = []
    while let key = copies.minimumRecent { gone += removeCopy(key) }
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
  /// Whether both are the same buffer, which is quicker to compare than the bytes.
  func isIdentical(to other: [UInt8]) -> Bool {
    withUnsafeBufferPointer { left in
      other.withUnsafeBufferPointer { $0.baseAddress == left.baseAddress && $0.count == left.count }
    }
  }
}

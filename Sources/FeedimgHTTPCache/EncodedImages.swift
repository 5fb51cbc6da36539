import FeedimgModel

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
  /// Entries that have lost their copy.
  private var stripped: [Entry] = []

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

  mutating func insert(_ image: MemoryCache.Image, for key: String) {
    let cost = image.bytes.count + MemoryCache.overhead
    store.insert(Entry(key: key, image: image), for: key, cost: cost)
  }

  /// Whether a key has the image with exactly this buffer.
  func has(_ bytes: [UInt8], for key: String) -> Bool { self.bytes(key)?.isIdentical(to: bytes) ?? false }

  /// Notes the file of an image, unless another image has replaced it.
  mutating func noteFile(_ path: String?, of image: MemoryCache.Image, for key: String) {
    guard has(image.bytes, for: key) else { return }
    store.change(key, costBy: 0) { $0.image.path = path }
  }

  /// Updates the response of an image if it is still `asked`, and counts a use.
  mutating func update(_ key: String, from asked: StoredResponse, to updated: StoredResponse) {
    guard store.use(key)?.image.response == asked else { return }
    store.change(key, costBy: 0) { $0.image.response = updated }
  }

  /// Keeps a copy of an image, unless the key has other bytes than these by now; returns whether it is kept.
  mutating func keep(_ copy: Copy, of bytes: [UInt8], for key: String) -> Bool {
    let most = store.limit / 4
    guard copy.cost <= most, let entry = store.peek(key), entry.copy == nil, has(bytes, for: key) else {
      return false
    }
    while copies.count >= Self.maximumCopyCount || copyCost > most - copy.cost,
      let last = copies.minimumRecent
    {
      removeCopy(last)
    }
    // As the most recently used one, the image is not evicted for its own copy.
    _ = store.use(key)
    copies.use(key)
    copyCost += copy.cost
    store.change(key, costBy: copy.cost) { $0.copy = copy }
    return true
  }

  mutating func removeCopies() { while let key = copies.minimumRecent { removeCopy(key) } }

  mutating func remove(_ key: String) { store.remove(key) }

  mutating func shrink(to target: Int) { store.shrink(to: target) }

  mutating func setLimit(_ limit: ByteCount) { store.setLimit(limit) }

  private mutating func removeCopy(_ key: String) {
    copies.remove(key)
    guard let entry = store.peek(key), let copy = entry.copy else { return }
    copyCost -= copy.cost
    stripped.append(entry)
    store.change(key, costBy: -copy.cost) { $0.copy = nil }
  }

  /// The removed images and copies, to release outside the lock; called after each change.
  mutating func takeRemoved() -> [Entry] {
    let removed = store.takeRemoved()
    for entry in removed {
      guard let copy = entry.copy else { continue }
      copies.remove(entry.key)
      copyCost -= copy.cost
    }
    defer { stripped = [] }
    return removed + stripped
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

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
    var image: MemoryCache.Image
    var copy: Copy?
  }

  /// Limited in number, too, because a copy may hold a scarce resource such as a descriptor.
  static let maximumCopyCount = 64

  var store = BoundedStore<String, Entry>(limit: ByteCount(0))
  /// The keys of images that got a copy, the least recently used first; some have lost it.
  private var copied: [String] = []

  /// The keys and copies of images with a copy, the least recently used first.
  var copies: [(key: String, copy: Copy)] {
    copied.compactMap { key in store.peek(key)?.copy.map { (key, $0) } }
  }

  /// The image of a key with its copy, counted as used.
  mutating func use(_ key: String) -> Entry? {
    guard let entry = store.use(key) else { return nil }
    if entry.copy != nil, copied.last != key {
      copied.removeAll { $0 == key }
      copied.append(key)
    }
    return entry
  }

  /// - Returns: The evicted entries, for the caller to release outside its lock.
  mutating func insert(_ image: MemoryCache.Image, for key: String) -> [Entry] {
    store.insert(Entry(image: image), for: key, cost: image.bytes.count + MemoryCache.overhead)
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
  mutating func update(_ key: String, from asked: StoredResponse, to updated: StoredResponse) {
    guard store.use(key)?.image.response == asked else { return }
    _ = store.change(key, costBy: 0) { $0.image.response = updated }
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
    var others = copies[...]
    while others.count >= Self.maximumCopyCount || others.reduce(copy.cost, { $0 + $1.copy.cost }) > most,
      let last = others.popFirst()
    {
      gone += removeCopy(last.key)
    }
    copied = others.map(\.key) + [key]
    // As the most recently used one, the image is not evicted for its own copy.
    _ = store.use(key)
    gone += store.change(key, costBy: copy.cost) { $0.copy = copy }
    return (true, gone)
  }

  /// - Returns: The entries whose copies were removed, for the caller to release outside its lock.
  mutating func removeCopies() -> [Entry] { copies.flatMap { removeCopy($0.key) } }

  private mutating func removeCopy(_ key: String) -> [Entry] {
    guard let entry = store.peek(key), let copy = entry.copy else { return [] }
    return [entry] + store.change(key, costBy: -copy.cost) { $0.copy = nil }
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

package import FeedimgModel
import Synchronization

/// Keeps encoded and decoded images in memory, each kind within a budget of bytes.
///
/// Images that were used once are evicted before those that were used again. Any thread may use it. Evicted images are
/// released outside the lock.
package final class MemoryCache: Sendable {
  package struct Image: Sendable, Hashable {
    package var role: ImageVariant.Role
    package var mediaType: String
    package let bytes: [UInt8]
    /// The XXH3 checksum of the bytes, computed once because it also names the image.
    package let checksum: UInt64
    /// The file in the disk cache; nil if it is not stored.
    package var path: String?
    /// The response with the image, for its freshness; nil if unknown.
    package var response: StoredResponse?

    /// Makes an image, and computes its checksum if that is nil.
    package init(
      role: ImageVariant.Role,
      mediaType: String,
      bytes: [UInt8],
      checksum: UInt64? = nil,
      path: String?,
      response: StoredResponse? = nil
    ) {
      self.role = role
      self.mediaType = mediaType
      self.bytes = bytes
      self.checksum = checksum ?? Checksum.of(bytes)
      self.path = path
      self.response = response
    }
  }

  /// The images of one tier.
  package struct Contents: Sendable, Hashable {
    package var count: Int
    /// At most the limit.
    package var size: ByteCount
    /// The current limit; zero under memory pressure.
    package var limit: ByteCount
  }

  private struct DecodedImage: Sendable {
    var bitmap: Bitmap
    /// The checksum of the encoded bytes.
    var checksum: UInt64
  }

  private struct State {
    var encoded = BoundedStore<String, Image>(limit: ByteCount(0))
    var decoded = BoundedStore<DecodedKey, DecodedImage>(limit: ByteCount(0))
    /// Nil before the first image.
    var limits: MemoryLimits?
    var kinds = MemoryKinds.all
    /// The number of changes to images that were not in memory, so that a read that began before may be older.
    var unseenChanges = 0
    var onFilling: (@Sendable () -> Void)?
    /// The number of removals that the images follow; nil before the first use.
    var removals: Int?

    mutating func insert(_ image: Image, for key: String) {
      encoded.insert(image, for: key, cost: image.bytes.count + MemoryCache.overhead)
      decoded.removeAll { $0.url == key && $1.checksum != image.checksum }
      // An image that is not kept may still replace one that is being read.
      noteUnseenChange(of: key)
    }

    mutating func removeAll() {
      unseenChanges += 1
      encoded.shrink(to: 0)
      decoded.shrink(to: 0)
    }

    mutating func noteUnseenChange(of key: String) { if !encoded.contains(key) { unseenChanges += 1 } }

    /// Removes all images if a user has removed images from the disk since the last call.
    mutating func follow(_ removals: Int) {
      if let known = self.removals, known != removals { removeAll() }
      self.removals = removals
    }

    /// Applies the current limits and kinds.
    mutating func applyLimits() {
      guard let limits else { return }
      encoded.setLimit(kinds == .none ? ByteCount(0) : limits.encoded)
      decoded.setLimit(kinds == .all ? limits.decoded : ByteCount(0))
    }
  }

  /// The estimated cost of an entry beside its bytes: key, record and order.
  static let overhead = 512
  /// Freeing fewer bytes would not help under memory pressure.
  package static let worthWatching = 4 << 20

  private let state = Mutex(State())
  private let standard: @Sendable () -> MemoryLimits
  /// The number of times that users removed images from the disk, through any process.
  ///
  /// Each use of an image asks for it. When it has changed, all images are removed.
  package let removals: @Sendable () -> Int

  /// Makes a cache that computes its limits with the first image, unless they are set before.
  package init(
    removals: @escaping @Sendable () -> Int = { 0 },
    limits: @escaping @Sendable () -> MemoryLimits
  ) {
    (self.removals, standard) = (removals, limits)
  }

  /// The image of a key, counted as used.
  package subscript(key: String) -> Image? { use { $0.encoded.use(key) } }

  /// Whether a key has an image, as of the last ``dropRemoved()``; counts no use.
  package func contains(_ key: String) -> Bool { state.withLock { $0.encoded.contains(key) } }

  /// Removes all images if a user has removed images from the disk; each use of an image does the same.
  package func dropRemoved() { use { _ in } }

  /// The decoded image of a key, counted as used.
  package subscript(key: DecodedKey) -> Bitmap? { use { $0.decoded.use(key)?.bitmap } }

  /// The decoded image of a key, counted as used; nil if it was decoded from other bytes.
  package subscript(key: DecodedKey, of bytes: [UInt8]) -> Bitmap? {
    let checksum = Checksum.of(bytes)
    return use { $0.decoded.peek(key)?.checksum == checksum ? $0.decoded.use(key)?.bitmap : nil }
  }

  /// The encoded images.
  package var encoded: Contents { state.withLock { Contents($0.encoded) } }

  /// The decoded images.
  package var decoded: Contents { state.withLock { Contents($0.decoded) } }

  /// Calls a closure once, when the cache is large enough for memory pressure to matter.
  ///
  /// It runs on the thread that stores the image.
  package func whenFilled(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.onFilling = body }
  }

  /// Keeps an image, and removes an earlier one of its key.
  ///
  /// An image above a quarter of the budget is not kept.
  ///
  /// Bitmaps of another version are removed; bitmaps of the same bytes stay. `removals` is the value of ``removals``
  /// when the load of the image began. After a removal, the image is not kept.
  package func insert(_ image: Image, for key: String, since removals: Int? = nil) {
    prepare()
    let count = self.removals()
    guard removals ?? count == count else { return }
    change { state in
      state.follow(count)
      state.insert(image, for: key)
    }
  }

  /// Reads an image from elsewhere, and keeps it unless the image of the key was changed or removed meanwhile.
  package func fill(_ key: String, from read: () -> Image?) -> Image? {
    let before = use { (changes: $0.unseenChanges, bytes: $0.encoded.peek(key)?.bytes) }
    guard let image = read() else { return nil }
    prepare()
    use { state in
      let isSame = before.bytes.map { state.encoded.has($0, for: key) } ?? !state.encoded.contains(key)
      if isSame, state.unseenChanges == before.changes { state.insert(image, for: key) }
    }
    return image
  }

  /// Updates the response of an image, if it is still `old`, and counts a use.
  package func update(_ key: String, from old: StoredResponse, to updated: StoredResponse) {
    change { state in
      state.noteUnseenChange(of: key)
      guard state.encoded.use(key)?.response == old else { return }
      state.encoded.change(key) { $0.response = updated }
    }
  }

  /// Whether this image is kept for a key, not another one.
  package func has(_ image: Image, for key: String) -> Bool {
    state.withLock { $0.encoded.has(image.bytes, for: key) }
  }

  /// Notes the file of an image that was stored after it was kept, unless another image has replaced it.
  package func noteFile(_ path: String?, of image: Image, for key: String) {
    state.withLock { state in
      if state.encoded.has(image.bytes, for: key) { state.encoded.change(key) { $0.path = path } }
    }
  }

  /// Keeps a decoded image, if it takes at most a quarter of the budget.
  ///
  /// `bytes` are the encoded bytes, as this cache returned or received them. If the URL has another version now, the
  /// bitmap is not kept.
  package func insert(_ bitmap: Bitmap, for key: DecodedKey, of bytes: [UInt8]) {
    prepare()
    let image = DecodedImage(bitmap: bitmap, checksum: Checksum.of(bytes))
    change { state in
      guard !state.encoded.contains(key.url) || state.encoded.has(bytes, for: key.url) else { return }
      state.decoded.insert(image, for: key, cost: bitmap.bytes.count + Self.overhead)
    }
  }

  /// Removes an image, encoded and decoded.
  package func remove(_ key: String) {
    change { state in
      state.noteUnseenChange(of: key)
      state.encoded.remove(key)
      state.decoded.removeAll { decoded, _ in decoded.url == key }
    }
  }

  /// Removes all images, encoded and decoded.
  package func removeAll() { change { $0.removeAll() } }

  /// Changes the limits, and evicts what exceeds them.
  package func setLimits(_ limits: MemoryLimits) {
    change { state in
      state.limits = limits
      state.applyLimits()
    }
  }

  /// Restricts the cache to some kinds, and evicts the others.
  package func keep(_ kinds: MemoryKinds) {
    change { state in
      state.kinds = kinds
      state.applyLimits()
    }
  }

  private func prepare() {
    guard state.withLock({ $0.limits == nil }) else { return }
    let limits = standard()
    change { state in
      guard state.limits == nil else { return }
      state.limits = limits
      state.applyLimits()
    }
  }

  /// Runs the body after the images that a user removed are gone.
  private func use<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let removals = removals()
    return change { state in
      state.follow(removals)
      return body(&state)
    }
  }

  /// Runs the body under the lock, and releases removed images outside it.
  private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let (value, removed, onFilling) = state.withLock { state in
      let value = body(&state)
      let removed = (state.encoded.takeRemoved(), state.decoded.takeRemoved())
      let isFilled = state.encoded.cost + state.decoded.cost > Self.worthWatching
      return (value, removed, isFilled ? state.onFilling.take() : nil)
    }
    onFilling?()
    withExtendedLifetime(removed) {}
    return value
  }
}

extension MemoryCache.Image {
  /// - Parameter found: An image of the disk cache.
  package init(_ found: (image: StoredImage, bytes: [UInt8])) {
    self.init(
      role: found.image.role,
      mediaType: found.image.mediaType,
      bytes: found.bytes,
      checksum: found.image.checksum,
      path: found.image.path,
      response: found.image.response
    )
  }
}

extension BoundedStore<String, MemoryCache.Image> {
  /// Whether a key has the image with exactly this buffer, which is quicker to compare than the bytes.
  fileprivate func has(_ bytes: [UInt8], for key: String) -> Bool {
    guard let kept = peek(key)?.bytes else { return false }
    return kept.withUnsafeBufferPointer { left in
      bytes.withUnsafeBufferPointer { $0.baseAddress == left.baseAddress && $0.count == left.count }
    }
  }
}

extension MemoryCache.Contents {
  fileprivate init<Key, Value>(_ store: BoundedStore<Key, Value>) {
    self.init(count: store.count, size: ByteCount(store.cost), limit: ByteCount(store.limit))
  }
}

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

/// The memory that images may take, separately for encoded and decoded ones.
package struct MemoryLimits: Sendable, Hashable {
  package var encoded: ByteCount
  package var decoded: ByteCount

  package init(encoded: ByteCount, decoded: ByteCount) {
    self.encoded = encoded
    self.decoded = decoded
  }

  /// Divides a total limit.
  ///
  /// Decoded images get two thirds, as they are several times as large. Without decoding, encoded images get all.
  package init(total: ByteCount, isDecoding: Bool) {
    decoded = ByteCount(isDecoding ? total.bytes / 3 * 2 : 0)
    encoded = ByteCount(total.bytes - decoded.bytes)
  }
}

/// The kinds of images that memory may keep, which memory pressure reduces.
package enum MemoryKinds: Sendable {
  /// Encoded and decoded images.
  case all
  /// Encoded images only.
  case encoded
  case none
}

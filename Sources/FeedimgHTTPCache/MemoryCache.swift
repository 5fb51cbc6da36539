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

    /// - Parameters:
    ///   - role: The role in its item.
    ///   - mediaType: The recognised media type.
    ///   - bytes: All bytes.
    ///   - checksum: The checksum, if the disk cache knows it; nil to compute it.
    ///   - path: The file in the disk cache.
    ///   - response: The response with the image.
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

  /// The contents of one tier.
  package struct Account: Sendable, Hashable {
    package var count: Int
    /// At most the limit.
    package var size: ByteCount
    /// The current limit; zero under memory pressure.
    package var limit: ByteCount
  }

  private struct State {
    var encoded = EncodedImages(limit: ByteCount(0))
    var decoded = DecodedImages(limit: ByteCount(0))
    /// Nil before the first image.
    var limits: MemoryLimits?
    var kinds = MemoryKinds.all
    var reads = OpenReads()
    var onFilling: (@Sendable () -> Void)?
    /// The number of removals that the images follow; nil before the first use.
    var removals: Int?

    mutating func insert(_ image: Image, for key: String) -> Removed {
      Removed(
        encoded: encoded.insert(image, for: key),
        decoded: decoded.remove(key, exceptOf: image.checksum)
      )
    }

    mutating func removeAll() -> Removed {
      reads.overtakeAll()
      return Removed(encoded: encoded.shrink(to: 0), decoded: decoded.shrink(to: 0))
    }

    /// Removes all images if a user has removed images from the disk since the last call.
    mutating func follow(_ removals: Int) -> Removed {
      defer { self.removals = removals }
      return removals == self.removals ?? removals ? Removed() : removeAll()
    }

    /// Applies the current limits and kinds.
    mutating func applyLimits() -> Removed {
      guard let limits else { return Removed() }
      let copies = kinds.contains(.copies) ? [] : encoded.removeCopies()
      return Removed(
        encoded: copies + encoded.setLimit(kinds.contains(.encoded) ? limits.encoded : ByteCount(0)),
        decoded: decoded.setLimit(kinds.contains(.decoded) ? limits.decoded : ByteCount(0))
      )
    }
  }

  /// Evicted images, to release outside the lock.
  private struct Removed: Sendable {
    var encoded: [EncodedImages.Entry] = []
    var decoded: [DecodedImages.Entry] = []

    mutating func add(_ other: Removed) {
      encoded += other.encoded
      decoded += other.decoded
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

  /// Makes a cache for encoded images only.
  package convenience init(limit: ByteCount) {
    self.init(limits: { MemoryLimits(total: limit, isDecoding: false) })
  }

  /// The image of a key, counted as used.
  package subscript(key: String) -> Image? { read { $0.encoded.use(key)?.image } }

  /// Whether a key has an image, as of the last ``dropRemoved()``; counts no use.
  package func contains(_ key: String) -> Bool { state.withLock { $0.encoded.contains(key) } }

  /// Removes all images if a user has removed images from the disk; each use of an image does the same.
  package func dropRemoved() { read { _ in } }

  /// The image of a key and its copy, if ``keep(_:cost:of:for:)`` kept one.
  ///
  /// Both count as used.
  package func withCopy(_ key: String) -> (image: Image, copy: (any AnyObject & Sendable)?)? {
    read { $0.encoded.use(key) }.map { ($0.image, $0.copy?.form) }
  }

  /// The decoded image of a key, counted as used.
  package subscript(key: DecodedKey) -> Bitmap? { read { $0.decoded.use(key, of: nil) } }

  /// The decoded image of a key, counted as used; nil if it was decoded from other bytes.
  package subscript(key: DecodedKey, of bytes: [UInt8]) -> Bitmap? {
    let checksum = Checksum.of(bytes)
    return read { $0.decoded.use(key, of: checksum) }
  }

  /// The encoded images.
  package var encoded: Account { state.withLock { Account($0.encoded.store) } }

  /// The copies of encoded images, whose bytes count among those.
  package var copies: (count: Int, size: ByteCount) {
    state.withLock { ($0.encoded.copyCount, ByteCount($0.encoded.copyCost)) }
  }

  /// The decoded images.
  package var decoded: Account { state.withLock { Account($0.decoded.store) } }

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
  /// Bitmaps of another version are removed; bitmaps of the same bytes stay.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - key: Its key.
  ///   - removals: ``removals`` when the load of the image began. After a removal, the image is not kept.
  package func insert(_ image: Image, for key: String, since removals: Int? = nil) {
    prepare()
    let count = self.removals()
    guard removals ?? count == count else { return }
    change { state in
      var gone = state.follow(count)
      state.reads.supersede(key)
      gone.add(state.insert(image, for: key))
      return gone
    }
  }

  /// Reads an image from elsewhere, and keeps it unless the image of the key was changed or removed meanwhile.
  ///
  /// - Parameters:
  ///   - key: The key of the image.
  ///   - isWanted: Called after reading; if it returns false, the image is not kept.
  ///   - read: Reads the image; called once.
  /// - Returns: The image, even if it is not kept.
  package func fill(
    _ key: String,
    ifWanted isWanted: () -> Bool = { true },
    from read: () -> Image?
  ) -> Image? {
    self.read { $0.reads.begin(key) }
    let image = read()
    let kept = isWanted() ? image : nil
    if kept != nil { prepare() }
    let removals = removals()
    change { state in
      var gone = state.follow(removals)
      if !state.reads.end(key), let kept { gone.add(state.insert(kept, for: key)) }
      return gone
    }
    return image
  }

  /// Updates the response of an image, if it is still `asked`.
  package func update(_ key: String, from asked: StoredResponse, to updated: StoredResponse) {
    change { state in
      state.reads.supersede(key)
      return Removed(encoded: state.encoded.update(key, from: asked, to: updated))
    }
  }

  /// Whether this image is kept for a key, not another one.
  package func has(_ image: Image, for key: String) -> Bool {
    state.withLock { $0.encoded.has(image, for: key) }
  }

  /// Notes the file of an image that was stored after it was kept, unless another image has replaced it.
  package func noteFile(_ path: String?, of image: Image, for key: String) {
    state.withLock { $0.encoded.noteFile(path, of: image, for: key) }
  }

  /// Keeps a copy of an image in another form while the image stays.
  ///
  /// All copies are at most 64 and take at most a quarter of the budget. Beyond that, the least recently used one is
  /// removed.
  ///
  /// - Parameters:
  ///   - copy: The copy of all its bytes.
  ///   - cost: The size of the copy, in bytes.
  ///   - bytes: The bytes of the image, as this cache returned them. If the key has another version now, the copy is
  ///     not kept.
  ///   - key: The key of the image.
  /// - Returns: Whether it is kept. A copy above a quarter of the budget is not kept, and none under memory pressure.
  package func keep(_ copy: any AnyObject & Sendable, cost: Int, of bytes: [UInt8], for key: String) -> Bool {
    var isKept = false
    change { state in
      guard state.kinds.contains(.copies) else { return Removed() }
      let step = state.encoded.keep(EncodedImages.Copy(form: copy, cost: cost), of: bytes, for: key)
      isKept = step.isKept
      return Removed(encoded: step.gone)
    }
    return isKept
  }

  /// Removes all copies.
  package func removeCopies() { change { Removed(encoded: $0.encoded.removeCopies()) } }

  /// Keeps a decoded image.
  ///
  /// One above a quarter of the budget is not kept.
  ///
  /// - Parameters:
  ///   - bitmap: The pixels.
  ///   - key: The URL, the size and the format.
  ///   - bytes: The encoded bytes, as this cache returned or received them. If the URL has another version now, the
  ///     bitmap is not kept.
  package func insert(_ bitmap: Bitmap, for key: DecodedKey, of bytes: [UInt8]) {
    prepare()
    let entry = DecodedImages.Entry(key: key, bitmap: bitmap, checksum: Checksum.of(bytes))
    change { state in
      if let now = state.encoded.bytes(key.url), !now.isIdentical(to: bytes) { return Removed() }
      let cost = bitmap.bytes.count + Self.overhead
      return Removed(decoded: state.decoded.insert(entry, cost: cost))
    }
  }

  /// Removes an image, encoded and decoded.
  package func remove(_ key: String) {
    change { state in
      state.reads.supersede(key)
      return Removed(encoded: state.encoded.remove(key), decoded: state.decoded.remove(key))
    }
  }

  /// Removes all images, encoded and decoded.
  package func removeAll() { change { $0.removeAll() } }

  /// Evicts images until the rest take at most `size` bytes, decoded images first.
  package func shrink(to size: ByteCount) {
    change { state in
      let decoded = state.decoded.shrink(to: size.bytes - state.encoded.store.cost)
      return Removed(
        encoded: state.encoded.shrink(to: size.bytes - state.decoded.store.cost),
        decoded: decoded
      )
    }
  }

  /// Changes the limits, and evicts what exceeds them.
  package func setLimits(_ limits: MemoryLimits) {
    change { state in
      state.limits = limits
      return state.applyLimits()
    }
  }

  /// Restricts the cache to some kinds, and evicts the others.
  package func keep(_ kinds: MemoryKinds) {
    change { state in
      state.kinds = kinds
      return state.applyLimits()
    }
  }

  private func prepare() {
    guard state.withLock({ $0.limits == nil }) else { return }
    let limits = standard()
    change { state in
      guard state.limits == nil else { return Removed() }
      state.limits = limits
      return state.applyLimits()
    }
  }

  /// Reads after the images that a user removed are gone.
  private func read<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let removals = removals()
    let (value, gone) = state.withLock { state in
      let gone = state.follow(removals)
      return (body(&state), gone)
    }
    withExtendedLifetime(gone) {}
    return value
  }

  /// Makes a change, and releases evicted images outside the lock.
  private func change(_ body: (inout State) -> Removed) {
    var gone = Removed()
    let onFilling = state.withLock { state in
      gone = body(&state)
      let isFilled = state.encoded.store.cost + state.decoded.store.cost > Self.worthWatching
      return isFilled ? state.onFilling.take() : nil
    }
    onFilling?()
    withExtendedLifetime(gone) {}
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

extension MemoryCache.Account {
  fileprivate init<Key, Value>(_ store: BoundedStore<Key, Value>) {
    self.init(count: store.count, size: ByteCount(store.cost), limit: ByteCount(store.limit))
  }
}

/// The keys that are being read, and whether they were changed meanwhile (pure).
///
/// A read may return an image that is older than a change during the read.
struct OpenReads: Sendable {
  private struct Read {
    var readers: Int
    var isSuperseded = false
  }

  private var reads: [String: Read] = [:]

  mutating func begin(_ key: String) { reads[key, default: Read(readers: 0)].readers += 1 }

  /// Notes a change of a key: running reads may return an older image.
  mutating func supersede(_ key: String) {
    // Skips the hash of the key in the usual case.
    guard !reads.isEmpty else { return }
    reads[key]?.isSuperseded = true
  }

  /// Notes a change of all keys.
  mutating func overtakeAll() { for key in reads.keys { reads[key]?.isSuperseded = true } }

  /// Ends a read.
  ///
  /// - Returns: Whether the key was changed during this read, or during another read that still runs.
  mutating func end(_ key: String) -> Bool {
    guard var read = reads[key] else { return false }
    read.readers -= 1
    reads[key] = read.readers > 0 ? read : nil
    return read.isSuperseded
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

/// The kinds of images that memory may keep.
///
/// Memory pressure removes one after the other.
package struct MemoryKinds: OptionSet, Sendable, Hashable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let encoded = MemoryKinds(rawValue: 1 << 0)
  package static let decoded = MemoryKinds(rawValue: 1 << 1)
  /// Copies of encoded images in another form.
  package static let copies = MemoryKinds(rawValue: 1 << 2)
  package static let all: MemoryKinds = [.encoded, .decoded, .copies]
}

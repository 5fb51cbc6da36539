package import FeedimgModel
import Synchronization

/// Keeps images in memory, encoded and decoded ones each within a budget of bytes.
///
/// Those shown once give way before those shown again. For any thread; what it lets go of is freed outside of its lock.
package final class MemoryCache: Sendable {
  /// An encoded image.
  package struct Image: Sendable, Hashable {
    package var role: ImageVariant.Role
    package var mediaType: String
    package let bytes: [UInt8]
    /// The XXH3 checksum of the bytes, so that who names them by it need not read them each time.
    package let checksum: UInt64
    /// The file in the disk cache, if it was kept there.
    package var path: String?
    /// What brought it, for its freshness; nil where that is not known.
    package var response: StoredResponse?

    /// - Parameters:
    ///   - role: What it is of its item.
    ///   - mediaType: As it was recognised.
    ///   - bytes: All of it.
    ///   - checksum: Of the bytes, where the disk cache has told it; nil to read them for that.
    ///   - path: The file in the disk cache.
    ///   - response: What brought it.
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

  /// What one tier keeps.
  package struct Account: Sendable, Hashable {
    package var count: Int
    /// Never over the limit.
    package var size: ByteCount
    /// What holds now; zero while memory is short.
    package var limit: ByteCount
  }

  private struct State {
    var encoded = EncodedImages(limit: ByteCount(0))
    var decoded = DecodedImages(limit: ByteCount(0))
    /// Nil until the first image comes.
    var limits: MemoryLimits?
    var kinds = MemoryKinds.all
    var reads = OpenReads()
    var onFilling: (@Sendable () -> Void)?

    mutating func insert(_ image: Image, for key: String) -> Gone {
      Gone(encoded: encoded.insert(image, for: key), decoded: decoded.remove(key, exceptOf: image.checksum))
    }

    /// Has the tiers hold to what is allowed now.
    mutating func applyLimits() -> Gone {
      guard let limits else { return Gone() }
      let copies = kinds.contains(.copies) ? [] : encoded.removeCopies()
      return Gone(
        encoded: copies + encoded.setLimit(kinds.contains(.encoded) ? limits.encoded : ByteCount(0)),
        decoded: decoded.setLimit(kinds.contains(.decoded) ? limits.decoded : ByteCount(0))
      )
    }
  }

  /// What was let go of, until the lock is free.
  private struct Gone: Sendable {
    var encoded: [EncodedImages.Entry] = []
    var decoded: [DecodedImages.Entry] = []
  }

  /// What an entry costs beside its bytes: key, record and order, estimated.
  static let overhead = 512
  /// Memory that is short gains nothing from less than this; in bytes.
  package static let worthWatching = 4 << 20

  private let state = Mutex(State())
  private let standard: @Sendable () -> MemoryLimits

  /// Makes a cache whose limits are asked for when the first image comes, unless they have been set.
  package init(limits: @escaping @Sendable () -> MemoryLimits) { standard = limits }

  /// Makes a cache for encoded images alone.
  package convenience init(limit: ByteCount) {
    self.init { MemoryLimits(total: limit, isDecoding: false) }
  }

  /// The image of a key, which thereby counts as used.
  package subscript(key: String) -> Image? { state.withLock { $0.encoded.use(key)?.image } }

  /// The image of a key with the copy that ``keep(_:cost:of:for:)`` has kept of it, if any; both count as used.
  package func withCopy(_ key: String) -> (image: Image, copy: (any AnyObject & Sendable)?)? {
    state.withLock { $0.encoded.use(key) }.map { ($0.image, $0.copy?.form) }
  }

  /// The decoded image of a key, which thereby counts as used.
  package subscript(key: DecodedKey) -> Bitmap? { state.withLock { $0.decoded.use(key, of: nil) } }

  /// The decoded image of a key if it was decoded from these bytes; it thereby counts as used.
  package subscript(key: DecodedKey, of bytes: [UInt8]) -> Bitmap? {
    let checksum = Checksum.of(bytes)
    return state.withLock { $0.decoded.use(key, of: checksum) }
  }

  /// What is kept of encoded images.
  package var encoded: Account { state.withLock { Account($0.encoded.store) } }

  /// The copies that are kept of encoded images, among whose bytes they count.
  package var copies: (count: Int, size: ByteCount) {
    state.withLock { ($0.encoded.copyCount, ByteCount($0.encoded.copyCost)) }
  }

  /// What is kept of decoded images.
  package var decoded: Account { state.withLock { Account($0.decoded.store) } }

  /// Calls a closure once, on the thread that then stores an image, when there is so much that pressure matters.
  package func whenFilled(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.onFilling = body }
  }

  /// Keeps an image in place of an earlier one of its key, unless it would take more than a quarter of the budget.
  ///
  /// What was decoded of another version goes; what was decoded of these bytes, as of an image that is read from disk
  /// again, stays.
  package func insert(_ image: Image, for key: String) {
    prepare()
    change { state in
      state.reads.overtake(key)
      return state.insert(image, for: key)
    }
  }

  /// Reads an image from elsewhere, and keeps it unless an image of the key was kept, updated or removed meanwhile:
  /// that was later.
  ///
  /// - Parameters:
  ///   - key: That of the image.
  ///   - isWanted: Asked after reading; nothing is kept where it says no.
  ///   - read: Gives the image; called once.
  /// - Returns: What was read, whether or not it is kept.
  package func fill(
    _ key: String,
    ifWanted isWanted: () -> Bool = { true },
    from read: () -> Image?
  ) -> Image? {
    state.withLock { $0.reads.begin(key) }
    let image = read()
    let kept = isWanted() ? image : nil
    if kept != nil { prepare() }
    change { state in
      guard !state.reads.end(key), let kept else { return Gone() }
      return state.insert(kept, for: key)
    }
    return image
  }

  /// Takes news of the response that brought an image, where it is still that image which is kept.
  package func update(_ key: String, from asked: StoredResponse, to updated: StoredResponse) {
    change { state in
      state.reads.overtake(key)
      return Gone(encoded: state.encoded.update(key, from: asked, to: updated))
    }
  }

  /// Keeps a copy of an image in another form, for as long as the image stays.
  ///
  /// - Parameters:
  ///   - copy: Has all its bytes.
  ///   - cost: What it takes, in bytes.
  ///   - bytes: Those of the image, as this cache gave them: if another image of the key has come since, the copy is
  ///     outdated and not kept.
  ///   - key: That of the image.
  /// - Returns: Whether it is kept. It is not where it would take more than a quarter of the budget, and not while memory
  ///   is short; beyond 64 copies and a quarter of the budget for all, the one used least recently gives way.
  package func keep(_ copy: any AnyObject & Sendable, cost: Int, of bytes: [UInt8], for key: String) -> Bool {
    var isKept = false
    change { state in
      guard state.kinds.contains(.copies) else { return Gone() }
      let step = state.encoded.keep(EncodedImages.Copy(form: copy, cost: cost), of: bytes, for: key)
      isKept = step.isKept
      return Gone(encoded: step.gone)
    }
    return isKept
  }

  /// Removes all copies, as nobody is likely to use them soon.
  package func removeCopies() { change { Gone(encoded: $0.encoded.removeCopies()) } }

  /// Keeps a decoded image, unless it would take more than a quarter of the budget.
  ///
  /// - Parameters:
  ///   - bitmap: The pixels.
  ///   - key: Which image at which size.
  ///   - bytes: What it was decoded from, as this cache gave or got it: if another image of the URL has come since,
  ///     the pixels are outdated and not kept.
  package func insert(_ bitmap: Bitmap, for key: DecodedKey, of bytes: [UInt8]) {
    prepare()
    let entry = DecodedImages.Entry(key: key, bitmap: bitmap, checksum: Checksum.of(bytes))
    change { state in
      if let now = state.encoded.bytes(key.url), !now.isIdentical(to: bytes) { return Gone() }
      let cost = bitmap.bytes.count + Self.overhead
      return Gone(decoded: state.decoded.insert(entry, cost: cost))
    }
  }

  /// Removes an image, decoded ones included.
  package func remove(_ key: String) {
    change { state in
      state.reads.overtake(key)
      return Gone(encoded: state.encoded.remove(key), decoded: state.decoded.remove(key))
    }
  }

  /// Removes images until no more than so many bytes are left in all, decoded ones first.
  package func shrink(to size: ByteCount) {
    change { state in
      let decoded = state.decoded.shrink(to: size.bytes - state.encoded.store.cost)
      return Gone(encoded: state.encoded.shrink(to: size.bytes - state.decoded.store.cost), decoded: decoded)
    }
  }

  /// Changes the budgets; what exceeds them goes at once.
  package func setLimits(_ limits: MemoryLimits) {
    change { state in
      state.limits = limits
      return state.applyLimits()
    }
  }

  /// Keeps images of these kinds alone until told otherwise; those of others go at once.
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
      guard state.limits == nil else { return Gone() }
      state.limits = limits
      return state.applyLimits()
    }
  }

  /// Makes a change, and frees what it lets go of when the lock is free again.
  private func change(_ body: (inout State) -> Gone) {
    var gone = Gone()
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
  /// - Parameter found: As the disk cache gives it.
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

/// Which keys are being read, and of which of them there has been news meanwhile (pure).
///
/// What a read gives may be older than news that came while it lasted, whatever clocks say.
struct OpenReads: Sendable {
  private struct Read {
    var readers: Int
    var isOvertaken = false
  }

  private var reads: [String: Read] = [:]

  mutating func begin(_ key: String) { reads[key, default: Read(readers: 0)].readers += 1 }

  /// What is read of a key now may no longer be what there is.
  mutating func overtake(_ key: String) {
    // Mostly nobody reads, and then no key has to be hashed.
    guard !reads.isEmpty else { return }
    reads[key]?.isOvertaken = true
  }

  /// Ends what ``begin(_:)`` began.
  ///
  /// - Returns: Whether there was news; also where that came before this read, but during another that still lasts.
  mutating func end(_ key: String) -> Bool {
    guard var read = reads[key] else { return false }
    read.readers -= 1
    reads[key] = read.readers > 0 ? read : nil
    return read.isOvertaken
  }
}

/// How much a process keeps of images in memory, encoded and decoded apart.
package struct MemoryLimits: Sendable, Hashable {
  /// The most that images take as they came.
  package var encoded: ByteCount
  /// The most that images take as pixels.
  package var decoded: ByteCount

  package init(encoded: ByteCount, decoded: ByteCount) {
    self.encoded = encoded
    self.decoded = decoded
  }

  /// Divides what images may take in all.
  ///
  /// Pixels get two thirds, as they take several times the bytes that they came from; all goes to encoded images
  /// where nothing is decoded.
  package init(total: ByteCount, isDecoding: Bool) {
    decoded = ByteCount(isDecoding ? total.bytes / 3 * 2 : 0)
    encoded = ByteCount(total.bytes - decoded.bytes)
  }
}

/// What memory may keep for now, as pressure takes one after the other away.
package struct MemoryKinds: OptionSet, Sendable, Hashable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let encoded = MemoryKinds(rawValue: 1 << 0)
  package static let decoded = MemoryKinds(rawValue: 1 << 1)
  /// What encoded images are kept as besides.
  package static let copies = MemoryKinds(rawValue: 1 << 2)
  package static let all: MemoryKinds = [.encoded, .decoded, .copies]
}

import FeedimgModel
import FeedimgPipeline

/// The bytes that a prefetch may still transfer, and those reserved for running loads.
///
/// A load starts only if its expected size still fits. The response head tells the exact size; a load that no
/// longer fits stops before its body arrives. An image that a running load fetches is not loaded again.
///
/// This type is pure. Sizes are in bytes.
struct PrefetchBudget: Sendable {
  /// The decision about a load that is ready to start.
  enum Entry: Hashable, Sendable {
    case begin
    /// Whether the image fits is known once running loads have progressed.
    case wait
    case leaveOut(Prefetch.Reason)
  }

  private struct Load: Sendable {
    /// Identifies the image; nil if that does not matter.
    let key: String?
    /// Whether received bytes are charged to this load, not to another caller of the transfer.
    var pays = true
    /// The bytes reserved until the length is known.
    var expected: Int
    /// Whether `expected` is a declared size.
    let isDeclared: Bool
    /// The bytes present, those of earlier loads included, and the length of the whole image.
    ///
    /// Nil before the response head.
    var response: (position: Int, length: Int?)?
    /// The bytes that this load received.
    var moved = 0
    /// Whether the response states no length, so that the image may be as long as the limit for one image.
    var isOpen = false
    /// Whether the load must stop.
    var mustStop = false

    /// The bytes reserved beyond those received.
    var kept: Int {
      guard pays, !mustStop else { return 0 }
      guard let response, let length = response.length else { return max(0, expected - moved) }
      return max(0, length - response.position)
    }
    /// The bytes that will certainly arrive.
    var announced: Int { response?.length == nil ? 0 : kept }
  }

  /// The expected size of an image while no length is known: a typical picture in a feed.
  static let firstEstimate = 256 << 10
  /// The most images of unknown size in a row that may prove too large; after that, no more are tried.
  static let maximumRefusals = 4
  /// Larger than any real size, and small enough that sums do not overflow.
  private static let maximumSize = 1 << 53

  private let total: Int
  private let perImage: Int
  private var loads: [Int: Load] = [:]
  private var lengths = (sum: 0, count: 0)
  private var refusals = 0
  /// The bytes that came over the network.
  private(set) var spent = 0

  init(_ limits: Prefetch.Limits) {
    total = Self.bounded(limits.total.bytes)
    perImage = Self.bounded(limits.perImage.bytes)
  }

  private static func bounded(_ size: Int) -> Int { min(max(size, 0), maximumSize) }

  /// Decides whether to start the load of an image.
  ///
  /// - Parameters:
  ///   - index: Identifies the load until ``leave(_:)``.
  ///   - size: The size that the item declares; nil if it declares none.
  ///   - key: Identifies the image, which several items may have. Nil if the item has none.
  /// - Returns: What to do. On `wait`, call again after another load is noted or leaves.
  mutating func enter(_ index: Int, size: ByteCount?, of key: String?) -> Entry {
    let known = size.flatMap { $0.bytes > 0 ? Self.bounded($0.bytes) : nil }
    if let known, known > perImage { return .leaveOut(.tooLarge) }
    if key != nil, loads.values.contains(where: { $0.key == key }) { return .wait }
    let expected = known ?? estimate
    // Try one image of unknown size at a time, because it may be small enough.
    let mayTry = known == nil && loads.isEmpty && spent < total && refusals < Self.maximumRefusals
    guard committed + expected <= total || mayTry else {
      return loads.isEmpty || spent + (known ?? 1) > total ? .leaveOut(.spent) : .wait
    }
    loads[index] = Load(key: key, expected: expected, isDeclared: known != nil)
    return .begin
  }

  /// Records the progress of a load; the first call follows the response head.
  ///
  /// - Parameters:
  ///   - index: Identifies the load.
  ///   - progress: The bytes received, and the length if known.
  ///   - isFirst: Whether this load comes first among the callers of the transfer; all get the same progress.
  /// - Returns: Why the load must stop; nil if it continues.
  mutating func note(_ index: Int, _ progress: LoadProgress, isFirst: Bool) -> Prefetch.Reason? {
    guard var load = loads[index] else { return nil }
    load.pays = isFirst
    let (position, length) = (
      Self.bounded(progress.received.bytes), progress.total.map { Self.bounded($0.bytes) }
    )
    // Bytes that were present before the load, or before a restart, are not counted.
    let brought = isFirst ? max(0, position - (load.response?.position ?? position)) : 0
    load.moved += brought
    spent = Self.bounded(spent + brought)
    if isFirst, let length, load.response?.length != length { learn(length) }
    load.response = (position: position, length: length)
    let opens = length == nil && !load.isOpen && (!load.isDeclared || load.moved > load.expected)
    if opens { (load.isOpen, load.expected) = (true, perImage) }
    loads[index] = load
    guard !load.mustStop, let reason = obstacle(index, load, opens: opens) else { return nil }
    if reason == .spent, !load.isDeclared { refusals += 1 }
    loads[index]?.mustStop = true
    return reason
  }

  /// Returns whether the response head of a load has arrived.
  func hasBegun(_ index: Int) -> Bool { loads[index]?.response != nil }

  private func obstacle(_ index: Int, _ load: Load, opens: Bool) -> Prefetch.Reason? {
    if max(load.response?.length ?? 0, load.response?.position ?? 0) > perImage { return .tooLarge }
    guard load.pays else { return nil }
    if loads.values.reduce(spent, { $0 + $1.announced }) > total { return .spent }
    // Of the images without a length, the first continues to the limit, so that not all of them stop there.
    let isFirst = !loads.contains { $0.key != index && $0.value.isOpen && $0.value.kept > 0 }
    return opens && !isFirst && committed > total ? .spent : nil
  }

  /// Ends a load, for any reason.
  ///
  /// - Parameter index: Identifies the load.
  /// - Returns: The bytes that it received.
  @discardableResult
  mutating func leave(_ index: Int) -> ByteCount {
    guard let load = loads.removeValue(forKey: index) else { return ByteCount(0) }
    if !load.mustStop {
      refusals = 0
      if load.pays, let response = load.response, response.length == nil { learn(response.position) }
    }
    return ByteCount(load.moved)
  }

  private mutating func learn(_ length: Int) {
    lengths = (Self.bounded(lengths.sum + length), lengths.count + 1)
  }

  /// The expected size of an image of unknown length.
  private var estimate: Int {
    min(perImage, lengths.count == 0 ? Self.firstEstimate : max(1, lengths.sum / lengths.count))
  }

  /// The bytes spent, and those reserved.
  private var committed: Int { loads.values.reduce(spent) { $0 + $1.kept } }
}

import FeedimgModel
import FeedimgPipeline

/// What a prefetch may still spend, and what of it is kept for the loads that run.
///
/// A load begins only where what it is likely to take is left. What an image takes is known exactly with the head of
/// its answer; what does not fit then, gives way before its body comes. Of loads that share a transfer one alone pays,
/// and they give way together. Pure; sizes are in bytes.
struct PrefetchAllowance: Sendable {
  /// What becomes of an image that would be loaded.
  enum Entry: Hashable, Sendable {
    case begin
    /// Whether it fits shows when those that run have got further.
    case wait
    case leaveOut(Prefetch.Reason)
  }

  /// What the answer to an earlier attempt has told of an image's length.
  enum Length: Hashable, Sendable {
    case announced(ByteCount)
    /// It said nothing, so that the image may be as long as one may be.
    case open
  }

  private struct Load: Sendable {
    /// What it loads, as others may; nil where that does not matter.
    let key: String?
    /// Whether what comes counts with it, and not with another load that shares the transfer.
    var pays: Bool
    /// Kept for it until its length is known.
    var expected: Int
    /// Whether that is what somebody declared.
    let isDeclared: Bool
    /// Whether it began although it was not likely to fit.
    let isProbe: Bool
    /// How much of the image is there, also from earlier loads; nil before its head has come.
    var position: Int?
    /// Of the whole image.
    var length: Int?
    /// Brought by this load.
    var moved = 0
    /// Among those whose answer does not say how long it is, in the order in which that showed; nil for others.
    var endless: Int?
    /// Whether it has been told to end.
    var givesWay = false

    /// Whether nobody knows how much will come.
    var isOpen: Bool { pays && !givesWay && length == nil }
    /// What is certain to come.
    var announced: Int { givesWay || !pays ? 0 : max(0, (length ?? 0) - (position ?? 0)) }
    /// What is kept for it beside what has come.
    var kept: Int { isOpen ? max(0, expected - moved) : announced }
  }

  /// What is expected of an image as long as no length is known: that of a picture in a feed.
  static let firstEstimate = 256 << 10
  /// So many in a row may turn out not to fit, where others of unknown size would have to be asked for to know.
  static let greatestRefusals = 4
  /// More than anybody has, and no sum of some of them overflows.
  private static let greatestSize = 1 << 53

  private let total: Int
  private let perImage: Int
  private var loads: [Int: Load] = [:]
  private var issued = 0
  private var lengths = (sum: 0, count: 0)
  private var refusals = 0
  /// Bytes that came over the network.
  private(set) var spent = 0

  init(_ limits: Prefetch.Limits) {
    total = Self.bounded(limits.total.bytes)
    perImage = Self.bounded(limits.perImage.bytes)
  }

  private static func bounded(_ size: Int) -> Int { min(max(size, 0), greatestSize) }

  /// Whether to begin the load of an image.
  ///
  /// - Parameters:
  ///   - index: Names it until ``leave(_:)``.
  ///   - size: As the item declares it; nil where nobody knows.
  ///   - length: What an earlier attempt has told.
  ///   - key: Names the image among all; nothing is kept for one that another load has begun, as they share it.
  /// - Returns: What to do; who is to wait, enters again after any other was noted or left.
  mutating func enter(
    _ index: Int,
    size: ByteCount?,
    after length: Length? = nil,
    of key: String? = nil
  ) -> Entry {
    let told: ByteCount? =
      switch length {
      case .announced(let length)?: length
      case .open?: nil
      case nil: size
      }
    let known = told.flatMap { $0.bytes > 0 ? Self.bounded($0.bytes) : nil }
    if let known, known > perImage { return .leaveOut(.tooLarge) }
    let shares = key != nil && loads.values.contains { $0.key == key && !$0.givesWay }
    let expected = known ?? (length == .open ? perImage : estimate)
    if shares || committed + expected <= total {
      loads[index] = Load(
        key: key,
        pays: !shares,
        expected: expected,
        isDeclared: known != nil,
        isProbe: false
      )
      return .begin
    }
    // Even if those that run came to nothing more.
    guard spent < total, spent + (known ?? 0) <= total else { return .leaveOut(.spent) }
    guard known == nil, certain < total, refusals < Self.greatestRefusals else {
      return loads.isEmpty ? .leaveOut(.spent) : .wait
    }
    // One after the other, as each may be small enough.
    guard !loads.values.contains(where: \.isOpen) else { return .wait }
    loads[index] = Load(key: key, pays: true, expected: expected, isDeclared: false, isProbe: true)
    return .begin
  }

  /// Takes note of how far a load has come; the first time with its head.
  ///
  /// - Parameters:
  ///   - index: Which load.
  ///   - told: How far, of what.
  ///   - isFirst: Whether it is the first of those who share the transfer, who are told the same.
  /// - Returns: Why it is to end with all ``sharing(with:)`` it; nil where it goes on.
  mutating func note(_ index: Int, _ told: LoadProgress, isFirst: Bool = true) -> Prefetch.Reason? {
    guard var load = loads[index] else { return nil }
    load.pays = isFirst
    let (position, length) = (
      Self.bounded(told.received.bytes), told.total.map { Self.bounded($0.bytes) }
    )
    // What begins anew brings nothing by that, nor does what was there before.
    let brought = isFirst ? max(0, position - (load.position ?? position)) : 0
    load.moved += brought
    spent = Self.bounded(spent + brought)
    if isFirst, let length, load.length != length { learn(length) }
    (load.position, load.length) = (position, length)
    if load.isOpen, load.endless == nil, !load.isDeclared || load.moved > load.expected {
      // It may be as long as one may be.
      issued += 1
      (load.endless, load.expected) = (issued, perImage)
    }
    loads[index] = load
    guard !load.givesWay else { return nil }
    guard let reason = obstacle(load) else { return nil }
    if load.isProbe { refusals += 1 }
    // Otherwise one after the other would go on with it.
    for index in sharing(with: index) {
      loads[index]?.givesWay = true
      loads[index]?.length = length
    }
    return reason
  }

  /// The loads of the same image, this one among them.
  func sharing(with index: Int) -> [Int] {
    guard let key = loads[index]?.key else { return [index] }
    return loads.filter { $0.value.key == key }.map(\.key)
  }

  /// Whether anything of its answer has come.
  func hasBegun(_ index: Int) -> Bool { loads[index]?.position != nil }

  private func obstacle(_ load: Load) -> Prefetch.Reason? {
    if max(load.length ?? 0, load.position ?? 0) > perImage { return .tooLarge }
    guard load.pays else { return nil }
    if certain > total { return .spent }
    guard load.isOpen, let number = load.endless, committed > total else { return nil }
    // One of them goes on to the limit, so that not all break off there.
    let isFirst = !loads.values.contains { $0.isOpen && $0.endless ?? .max < number }
    return isFirst ? nil : .spent
  }

  /// A load has ended, one way or the other.
  ///
  /// - Returns: What it brought.
  @discardableResult
  mutating func leave(_ index: Int) -> ByteCount {
    guard let load = loads.removeValue(forKey: index) else { return ByteCount(0) }
    if load.isProbe, !load.givesWay { refusals = 0 }
    if load.pays, load.length == nil, let length = load.position, !load.givesWay { learn(length) }
    return ByteCount(load.moved)
  }

  /// What a load is known to take in all; nil where its answer has not said so.
  func length(of index: Int) -> ByteCount? { loads[index]?.length.map { ByteCount($0) } }

  private mutating func learn(_ length: Int) {
    lengths = (Self.bounded(lengths.sum + length), lengths.count + 1)
  }

  /// What an image of unknown length is likely to take.
  private var estimate: Int {
    min(perImage, lengths.count == 0 ? Self.firstEstimate : max(1, lengths.sum / lengths.count))
  }

  /// What was spent, and what is certain to be.
  private var certain: Int { loads.values.reduce(spent) { $0 + $1.announced } }

  /// The same, with what is likely to be.
  private var committed: Int { loads.values.reduce(spent) { $0 + $1.kept } }
}

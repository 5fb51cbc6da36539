/// Whether a variant is available.
public enum Presence: String, Sendable, Hashable, CaseIterable {
  /// Stored, verified and allowed to be kept, fresh or stale.
  case cached
  case remote
  /// The item has no such variant.
  case none
}

/// All facts about one item at one moment, on which a policy decides.
///
/// This file alone declares each fact of feedimg: a stored property, a `Fact`, and its place in
/// `Fact.standard`.
public struct Situation: Sendable, Hashable {
  /// The kind of the active network.
  public var network: NetworkKind
  /// Whether the user pays for data.
  public var metered: Metered
  /// Whether the modem is roaming.
  public var isRoaming: Bool
  /// The setting `data-saver`.
  public var savesData: Bool
  /// The setting `always-load-originals-on-cellular`.
  public var alwaysOriginal: Bool
  /// Whether the original is available.
  public var original: Presence
  /// Whether the thumbnail is available.
  public var thumbnail: Presence
  /// The values of the facts that the host application defines, by name; see ``HostFact``.
  public var hostFacts: [String: String]
  // Quantities use `Int.max` for unknown, so that a decision compares them without a branch.
  fileprivate var sizeBytes = Int.max
  fileprivate var budgetLeftBytes = Int.max
  fileprivate var bandwidthBits = Int.max
  fileprivate var batteryPercent = Int.max

  /// The encoded length of the original; nil if unknown.
  public var size: ByteCount? {
    get { Self.known(sizeBytes).map { ByteCount($0) } }
    set { sizeBytes = Self.stored(newValue?.bytes) }
  }
  /// The budget left in this period; nil if no budget is set.
  public var budgetLeft: ByteCount? {
    get { Self.known(budgetLeftBytes).map { ByteCount($0) } }
    set { budgetLeftBytes = Self.stored(newValue?.bytes) }
  }
  /// The measured rate in bits per second, never negative; nil before the first measurement.
  public var bandwidth: Int? {
    get { Self.known(bandwidthBits) }
    set { bandwidthBits = Self.stored(newValue) }
  }
  /// The charge in percent, never negative; nil without a battery.
  public var battery: Int? {
    get { Self.known(batteryPercent) }
    set { batteryPercent = Self.stored(newValue) }
  }

  /// Creates a situation.
  ///
  /// Omitted facts are unknown or off.
  public init(
    network: NetworkKind,
    metered: Metered = .unknown,
    isRoaming: Bool = false,
    savesData: Bool = false,
    alwaysOriginal: Bool = false,
    original: Presence,
    thumbnail: Presence,
    size: ByteCount? = nil,
    budgetLeft: ByteCount? = nil,
    bandwidth: Int? = nil,
    battery: Int? = nil,
    hostFacts: [String: String] = [:]
  ) {
    self.network = network
    self.metered = metered
    self.isRoaming = isRoaming
    self.savesData = savesData
    self.alwaysOriginal = alwaysOriginal
    self.original = original
    self.thumbnail = thumbnail
    self.hostFacts = hostFacts
    self.size = size
    self.budgetLeft = budgetLeft
    self.bandwidth = bandwidth
    self.battery = battery
  }

  private static func known(_ stored: Int) -> Int? { stored == .max ? nil : stored }

  static func stored(_ quantity: Int?) -> Int { quantity.map { min(max($0, 0), .max - 1) } ?? .max }

  /// The availability of a variant.
  public subscript(role: ImageVariant.Role) -> Presence {
    get { role == .original ? original : thumbnail }
    set {
      switch role {
      case .original: original = newValue
      case .thumbnail: thumbnail = newValue
      }
    }
  }

  /// The index of the word of ``Fact/fits``.
  package var fitsOrdinal: Int {
    guard let size, let budgetLeft else { return 2 }
    return size.bytes <= budgetLeft.bytes / 100 ? 1 : 0
  }
}

extension Fact {
  package static let network = Fact("network", words(NetworkKind.self), \.network, defaultSource: "not read")
  package static let metered = Fact("metered", words(Metered.self), \.metered, defaultSource: "not read")
  package static let roaming = Fact("roaming", ["no", "yes"], \.isRoaming, defaultSource: "not read")
  package static let dataSaver = Fact(
    "data saver",
    ["off", "on"],
    \.savesData,
    defaultSource: "the setting data-saver"
  )
  package static let alwaysOriginal = Fact(
    "always original",
    ["no", "yes"],
    \.alwaysOriginal,
    defaultSource: "the setting always-load-originals-on-cellular"
  )
  package static let original = variant("original", \.original)
  package static let thumbnail = variant("thumbnail", \.thumbnail)
  package static let size = Fact("size", .bytes, \.sizeBytes, defaultSource: "the item has no size")
  package static let budgetLeft = Fact("budget left", .bytes, \.budgetLeftBytes, defaultSource: "not counted")
  package static let bandwidth = Fact(
    "bandwidth",
    .bitsPerSecond,
    \.bandwidthBits,
    defaultSource: "not measured"
  )
  package static let battery = Fact("battery", .percent, \.batteryPercent, defaultSource: "not read")
  /// Whether the size of the original is at most one percent of the budget left.
  package static let fits = Fact(
    "fits",
    ["no", "yes", "unknown"],
    \.fitsOrdinal,
    derivedFrom: [size, budgetLeft],
    defaultSource: "size against budget left"
  )

  /// All facts of feedimg, in the fixed order of all output.
  package static let standard = [
    network, metered, roaming, dataSaver, alwaysOriginal, original, thumbnail, size, budgetLeft, bandwidth,
    battery, fits,
  ]

  private static func variant(_ name: String, _ property: KeyPath<Situation, Presence>) -> Fact {
    Fact(name, words(Presence.self), property, defaultSource: "the item and the cache")
  }

  private static func words<Word: CaseIterable & RawRepresentable<String>>(_ type: Word.Type) -> [String] {
    type.allCases.map(\.rawValue)
  }
}

/// Whether a variant can be had.
public enum Presence: String, Sendable, Hashable, CaseIterable {
  /// Stored, verified and allowed to be kept, fresh or stale.
  case cached
  case remote
  /// The item has no such variant.
  case none
}

/// Everything that a policy may ask about one item at one moment (the facts).
public struct Situation: Sendable, Hashable {
  /// The kind of the active network.
  public var network: NetworkKind
  /// Whether data costs.
  public var metered: Metered
  /// Whether the modem is in a foreign network.
  public var isRoaming: Bool
  /// The app's own data saver.
  public var savesData: Bool
  /// The setting `always-load-originals-on-cellular`.
  public var alwaysOriginal: Bool
  /// Whether the original can be had.
  public var original: Presence
  /// Whether the thumbnail can be had.
  public var thumbnail: Presence
  /// The values of the facts that the host application defines, by name; see ``HostFact``.
  public var hostFacts: [String: String]
  // The quantities, with `Int.max` for what nobody knows: comparing them with a threshold, which each decision does,
  // then asks nothing first.
  package private(set) var sizeBytes = Int.max
  package private(set) var budgetLeftBytes = Int.max
  package private(set) var bandwidthBits = Int.max
  package private(set) var batteryPercent = Int.max

  /// The encoded length of the original; nil where nobody knows.
  public var size: ByteCount? {
    get { Self.known(sizeBytes).map { ByteCount($0) } }
    set { sizeBytes = Self.stored(newValue?.bytes) }
  }
  /// What may still be spent in this period; nil where nobody counts.
  public var budgetLeft: ByteCount? {
    get { Self.known(budgetLeftBytes).map { ByteCount($0) } }
    set { budgetLeftBytes = Self.stored(newValue?.bytes) }
  }
  /// Measured, in bits per second, never negative; nil before there is a measurement.
  public var bandwidth: Int? {
    get { Self.known(bandwidthBits) }
    set { bandwidthBits = Self.stored(newValue) }
  }
  /// The charge in percent, never negative; nil without a battery.
  public var battery: Int? {
    get { Self.known(batteryPercent) }
    set { batteryPercent = Self.stored(newValue) }
  }

  /// Makes a situation; what is left out is not known, or off.
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

  private static func stored(_ quantity: Int?) -> Int { quantity.map { min(max($0, 0), .max - 1) } ?? .max }

  /// The presence of a variant.
  public subscript(role: ImageVariant.Role) -> Presence {
    get { role == .original ? original : thumbnail }
    set {
      switch role {
      case .original: original = newValue
      case .thumbnail: thumbnail = newValue
      }
    }
  }
}

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
  /// The encoded length of the original; nil where nobody knows.
  public var size: ByteCount?
  /// What may still be spent in this period; nil where nobody counts.
  public var budgetLeft: ByteCount?
  /// Measured, in bits per second; nil before there is a measurement.
  public var bandwidth: Int?
  /// The charge in percent; nil without a battery.
  public var battery: Int?
  /// The values of the facts that the host application defines, by name; see ``HostFact``.
  public var hostFacts: [String: String]

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
    self.size = size
    self.budgetLeft = budgetLeft
    self.bandwidth = bandwidth
    self.battery = battery
    self.hostFacts = hostFacts
  }

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

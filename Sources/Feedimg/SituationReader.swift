package import FeedimgModel
import FeedimgPolicy

/// Puts together what a policy is asked with, and who says so.
///
/// Made once for a batch: all its items see the same network and settings.
struct SituationReader {
  /// What holds for every item that is reached in one way.
  fileprivate struct Way {
    var situation: Situation
    var sources: [Fact: String]
  }

  /// The way over the network.
  private var way: Way
  /// The way to items of this machine, where it is another one.
  private var localWay: Way?
  /// The facts that are given, and need not be read.
  private let given: Set<Fact>
  /// The same of those that each item is asked about.
  private let (isOriginalGiven, isThumbnailGiven, isSizeGiven): (Bool, Bool, Bool)
  private let hostFacts: [HostFact]
  private let listed: [Fact]

  /// - Parameters:
  ///   - network: The live network, or nil where it is given and need not be looked at.
  ///   - asksAboutCost: Whether services were asked what data costs.
  ///   - settings: The settings.
  ///   - budget: What is left to be spent.
  ///   - overrides: What is given instead of read.
  ///   - hostFacts: The facts that the application defines.
  ///   - bandwidth: As measured, in bits per second.
  init(
    network: NetworkState?,
    asksAboutCost: Bool = true,
    settings: UserSettings,
    budget: BudgetReading = .unasked,
    overrides: [CheckedOverride],
    hostFacts: [HostFact] = [],
    bandwidth: Int? = nil
  ) {
    self.hostFacts = hostFacts
    given = Set(overrides.map(\.fact))
    isOriginalGiven = given.contains(.original)
    isThumbnailGiven = given.contains(.thumbnail)
    isSizeGiven = given.contains(.size)
    listed = hostFacts.isEmpty ? Fact.standard : (Fact.standard + hostFacts.map(Fact.host)).sorted()
    way = Way(over: network, asksAboutCost, settings, budget, overrides)
    if let network, !network.isReachable {
      localWay = Way(over: Self.thisMachine, asksAboutCost, settings, budget, overrides)
    }
    if let bandwidth, !given.contains(.bandwidth) {
      way.situation.bandwidth = bandwidth
      way.sources[.bandwidth] = "measured by the transfers so far"
    }
  }

  /// Whether the cache has a say: not where it is given what is cached.
  var asksCache: Bool { !(isOriginalGiven && isThumbnailGiven) }

  /// Whether items of this machine are reached in another way than the rest.
  var hasLocalWay: Bool { localWay != nil }

  /// Whether an item is reached in another way than over the network.
  func isLocal(_ item: FeedItem) -> Bool {
    guard localWay != nil else { return false }
    return item.original?.url.isLoopback ?? true && item.thumbnail?.url.isLoopback ?? true
  }

  /// What the policy is asked with about one item: its variants, their size, and what the application says of it.
  func situation(
    original: Presence,
    thumbnail: Presence,
    size: ByteCount?,
    _ values: [String: String] = [:],
    isLocal: Bool = false
  ) -> Situation {
    var situation = isLocal ? localWay?.situation ?? way.situation : way.situation
    if !isOriginalGiven { situation.original = original }
    if !isThumbnailGiven { situation.thumbnail = thumbnail }
    if !isSizeGiven { situation.size = size }
    if !values.isEmpty { situation.hostFacts.merge(values) { given, _ in given } }
    return situation
  }

  /// Every fact in a situation that this reader made, and who says so.
  func facts(
    in situation: Situation,
    _ values: [String: String] = [:],
    isLocal: Bool = false
  ) -> [FactReading] {
    let sources = isLocal ? localWay?.sources ?? way.sources : way.sources
    return listed.map { fact in
      let source =
        switch fact {
        case .size where !isSizeGiven: situation.size == nil ? "the item does not tell" : "the item"
        case .host(let own) where !given.contains(fact):
          "the application\(values[own.name] == nil ? " says nothing" : "")"
        default: sources[fact] ?? ""
        }
      return FactReading(name: fact.name, value: fact.value(in: situation), source: source)
    }
  }

  /// This machine itself is reached without any network, and as well as by cable.
  private static var thisMachine: NetworkState {
    NetworkState(
      kind: .ethernet,
      metered: .no,
      reason: "offline, but the item is on this machine",
      meteredReason: "the item is on this machine"
    )
  }
}

extension SituationReader.Way {
  fileprivate init(
    over network: NetworkState?,
    _ asksAboutCost: Bool,
    _ settings: UserSettings,
    _ budget: BudgetReading,
    _ overrides: [CheckedOverride]
  ) {
    situation = Situation(
      network: network?.kind ?? .other,
      metered: network?.metered ?? .unknown,
      isRoaming: network?.isRoaming ?? false,
      savesData: settings.savesData,
      alwaysOriginal: settings.alwaysLoadOriginalsOnCellular,
      original: .none,
      thumbnail: .none,
      budgetLeft: budget.left
    )
    sources = [
      .network: network?.reason ?? "",
      .metered: network.map { Self.sourceOfMetering($0, asksAboutCost) } ?? "",
      .roaming: network.map { asksAboutCost ? $0.sourceOfRoaming : "not asked, as no rule depends on it" }
        ?? "not looked at",
      .dataSaver: "the setting data-saver",
      .alwaysOriginal: "the setting always-load-originals-on-cellular",
      .original: "the item and the cache", .thumbnail: "the item and the cache",
      .budgetLeft: budget.source, .bandwidth: "not measured", .battery: "not read",
      .fits: "size against budget left",
    ]
    for override in overrides {
      override.apply(to: &situation)
      sources[override.fact] = override.source
    }
    let given = Set(overrides.map(\.fact))
    if given.contains(.network), !given.contains(.metered) {
      situation.metered = Self.usualMetering(of: situation.network)
      sources[.metered] = "as usual for \(situation.network.rawValue)"
    }
  }

  private static func sourceOfMetering(_ path: NetworkState, _ asksAboutCost: Bool) -> String {
    asksAboutCost || path.kind == .offline
      ? path.meteredReason : "\(path.meteredReason); services were not asked, as no rule depends on it"
  }

  private static func usualMetering(of network: NetworkKind) -> Metered {
    switch network {
    case .cellular: .yes
    case .wifi, .ethernet, .offline: .no
    case .other: .unknown
    }
  }
}

extension NetworkState {
  /// Who says whether the modem is in a foreign network, in words.
  package var sourceOfRoaming: String {
    isRoaming ? "ModemManager says so" : "nothing tells of a foreign network"
  }
}

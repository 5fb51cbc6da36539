import FeedimgModel
import FeedimgPolicy

/// Puts together what a policy is asked with, and who says so.
///
/// Read once for a batch: all its items see the same network and settings.
struct SituationReader {
  /// The live network, or nil where it is given and need not be looked at.
  private let network: NetworkState?
  /// Whether services were asked what data costs.
  private let asksAboutCost: Bool
  private let settings: UserSettings
  private let overrides: [CheckedOverride]
  private let hostFacts: [HostFact]

  init(
    network: NetworkState?,
    asksAboutCost: Bool = true,
    settings: UserSettings,
    overrides: [CheckedOverride],
    hostFacts: [HostFact] = []
  ) {
    self.network = network
    self.asksAboutCost = asksAboutCost
    self.settings = settings
    self.overrides = overrides
    self.hostFacts = hostFacts
  }

  /// The facts about one item.
  ///
  /// - Parameters:
  ///   - item: What is to be decided about.
  ///   - values: What the application says of the facts that it defines.
  ///   - isCached: Whether the cache has the image of a URL.
  /// - Returns: The situation, and the source of each fact by its name.
  func read(
    _ item: FeedItem,
    _ values: [String: String] = [:],
    isCached: (ImageURL) -> Bool
  ) -> (situation: Situation, facts: [FactReading]) {
    func presence(_ variant: ImageVariant?) -> Presence {
      variant.map { isCached($0.url) ? .cached : .remote } ?? .none
    }
    let path = network.map { Self.path(to: item, over: $0) }
    var situation = Situation(
      network: path?.kind ?? .other,
      metered: path?.metered ?? .unknown,
      isRoaming: path?.isRoaming ?? false,
      alwaysOriginal: settings.alwaysLoadOriginalsOnCellular,
      original: presence(item.original),
      thumbnail: presence(item.thumbnail),
      size: item.original?.size,
      hostFacts: values
    )
    var sources: [Fact: String] = [
      .network: path?.reason ?? "", .metered: path.map(sourceOfMetering) ?? "",
      .roaming: path.map(sourceOfRoaming) ?? "not looked at",
      .dataSaver: "off unless an app says otherwise",
      .alwaysOriginal: "the setting always-load-originals-on-cellular",
      .original: "the item and the cache", .thumbnail: "the item and the cache",
      .size: situation.size == nil ? "the item does not tell" : "the item",
      .budgetLeft: "nobody counts", .bandwidth: "not measured", .battery: "not read",
      .fits: "size against budget left",
    ]
    for fact in hostFacts {
      sources[.host(fact)] = "the application\(values[fact.name] == nil ? " says nothing" : "")"
    }
    for override in overrides {
      override.apply(to: &situation)
      sources[override.fact] = override.source
    }
    if overrides.contains(where: { $0.fact == .network }), !overrides.contains(where: { $0.fact == .metered })
    {
      situation.metered = Self.usualMetering(of: situation.network)
      sources[.metered] = "as usual for \(situation.network.rawValue)"
    }
    let listed = hostFacts.isEmpty ? Fact.standard : (Fact.standard + hostFacts.map(Fact.host)).sorted()
    let facts = listed.map {
      FactReading(name: $0.name, value: $0.value(in: situation), source: sources[$0] ?? "")
    }
    return (situation, facts)
  }

  /// The way to an item: this machine itself is reached without any network, and as well as by cable.
  private static func path(to item: FeedItem, over network: NetworkState) -> NetworkState {
    let urls = [item.original, item.thumbnail].compactMap { $0?.url }
    guard !network.isReachable, urls.allSatisfy(\.isLoopback) else { return network }
    return NetworkState(
      kind: .ethernet,
      metered: .no,
      reason: "offline, but the item is on this machine",
      meteredReason: "the item is on this machine"
    )
  }

  private func sourceOfMetering(_ path: NetworkState) -> String {
    asksAboutCost || path.kind == .offline
      ? path.meteredReason : "\(path.meteredReason); services were not asked, as no rule depends on it"
  }

  private func sourceOfRoaming(_ path: NetworkState) -> String {
    asksAboutCost ? path.sourceOfRoaming : "not asked, as no rule depends on it"
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
  var sourceOfRoaming: String { isRoaming ? "ModemManager says so" : "nothing tells of a foreign network" }
}

import FeedimgModel
import FeedimgPolicy

/// Assembles the input of a policy, with the source of each fact.
///
/// One reader serves a batch, so that all its items use the same network and settings.
package struct SituationReader {
  /// The facts for items that are loaded over the network.
  private let remote: KnownFacts
  /// The facts for items on this machine; nil if they equal those of other items.
  private let local: KnownFacts?
  /// The facts that overrides replace.
  private let given: Set<Fact>
  /// Whether overrides replace the facts of a single item.
  private let (isOriginalGiven, isThumbnailGiven, isSizeGiven): (Bool, Bool, Bool)
  private let listed: [Fact]

  /// Makes a reader.
  init(_ snapshot: FactSnapshot, overrides: [CheckedOverride], hostFacts: [HostFact] = []) {
    given = Set(overrides.map(\.fact))
    isOriginalGiven = given.contains(.original)
    isThumbnailGiven = given.contains(.thumbnail)
    isSizeGiven = given.contains(.size)
    listed = hostFacts.isEmpty ? Fact.standard : (Fact.standard + hostFacts.map(Fact.host)).sorted()
    remote = KnownFacts(snapshot, overrides)
    if let network = snapshot.network, !network.isReachable {
      var snapshot = snapshot
      (snapshot.network, snapshot.bandwidth) = (Self.thisMachine, nil)
      local = KnownFacts(snapshot, overrides)
    } else {
      local = nil
    }
  }

  /// Whether decisions depend on the cache; overrides can replace it.
  package var asksCache: Bool { !(isOriginalGiven && isThumbnailGiven) }

  /// Returns whether an item is loaded without the network.
  package func isLocal(_ item: FeedItem) -> Bool {
    guard local != nil else { return false }
    return item.original?.url.isLoopback ?? true && item.thumbnail?.url.isLoopback ?? true
  }

  /// Returns the input of the policy for one item: its variants, their size, and the application's facts.
  func situation(
    original: Presence,
    thumbnail: Presence,
    size: ByteCount?,
    _ values: [String: String] = [:],
    isLocal: Bool = false
  ) -> Situation {
    var situation = isLocal ? local?.situation ?? remote.situation : remote.situation
    if !isOriginalGiven { situation.original = original }
    if !isThumbnailGiven { situation.thumbnail = thumbnail }
    if !isSizeGiven { situation.size = size }
    if !values.isEmpty { situation.hostFacts.merge(values) { given, _ in given } }
    return situation
  }

  /// Returns every fact in a situation that this reader made, with its source.
  func facts(
    in situation: Situation,
    _ values: [String: String] = [:],
    isLocal: Bool = false
  ) -> [FactReading] {
    let sources = isLocal ? local?.sources ?? remote.sources : remote.sources
    return listed.map { fact in
      let isOfItem =
        !given.contains(fact)
        && (fact == .size && situation.size != nil || fact.hostFact != nil && values[fact.name] != nil)
      let source =
        isOfItem ? fact == .size ? "the item" : "the application" : sources[fact] ?? fact.defaultSource
      return FactReading(name: fact.name, value: fact.value(in: situation), source: source)
    }
  }

  /// The network state for items on this machine, which need no network and load as over a cable.
  private static var thisMachine: NetworkState {
    NetworkState(
      kind: .ethernet,
      metered: .no,
      reason: "offline, but the item is on this machine",
      meteredReason: "the item is on this machine"
    )
  }
}

extension KnownFacts {
  /// The facts that apply to every item, overrides included.
  fileprivate init(_ snapshot: FactSnapshot, _ overrides: [CheckedOverride]) {
    self.init(Situation(network: .other, original: .none, thumbnail: .none))
    read(snapshot)
    for override in overrides { set(override) }
    let given = Set(overrides.map(\.fact))
    if given.contains(.network), !given.contains(.metered) {
      let network = situation.network
      setMetered(Self.usualMetering(of: network), source: "the usual value for \(network.rawValue)")
    }
  }

  private static func usualMetering(of network: NetworkKind) -> Metered {
    switch network {
    case .cellular: .yes
    case .wifi, .ethernet, .offline: .no
    case .other: .unknown
    }
  }
}

import FeedimgModel
import FeedimgPolicy

/// Puts together what a policy is asked with, and the source of each fact.
///
/// Made once for a batch: all its items see the same network and settings.
package struct SituationReader {
  /// The facts of items that are reached over the network.
  private let remote: KnownFacts
  /// The facts of items of this machine, where they are reached in another way.
  private let local: KnownFacts?
  /// The facts that are given, and need not be read.
  private let given: Set<Fact>
  /// The same of those that each item is asked about.
  private let (isOriginalGiven, isThumbnailGiven, isSizeGiven): (Bool, Bool, Bool)
  private let listed: [Fact]

  /// - Parameters:
  ///   - snapshot: What this machine told.
  ///   - overrides: What is given instead of read.
  ///   - hostFacts: The facts that the application defines.
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

  /// Whether the cache has a say: not where it is given what is cached.
  var asksCache: Bool { !(isOriginalGiven && isThumbnailGiven) }

  /// Whether an item is reached in another way than over the network.
  package func isLocal(_ item: FeedItem) -> Bool {
    guard local != nil else { return false }
    return item.original?.url.isLoopback ?? true && item.thumbnail?.url.isLoopback ?? true
  }

  /// The facts about one item for the policy: its variants, their size, and the facts of the application.
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

  /// Every fact in a situation that this reader made, and who says so.
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

extension KnownFacts {
  /// The facts that hold for every item: read, or given.
  fileprivate init(_ snapshot: FactSnapshot, _ overrides: [CheckedOverride]) {
    self.init(Situation(network: .other, original: .none, thumbnail: .none))
    read(snapshot)
    for override in overrides { set(override) }
    let given = Set(overrides.map(\.fact))
    if given.contains(.network), !given.contains(.metered) {
      let network = situation.network
      setMetered(Self.usualMetering(of: network), source: "as usual for \(network.rawValue)")
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

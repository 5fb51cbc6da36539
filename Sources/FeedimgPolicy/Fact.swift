package import FeedimgModel

/// Something that a policy may ask about; a column of its table.
///
/// Facts compare in the fixed order in which every output lists them.
package enum Fact: Sendable, Hashable {
  case network
  case metered
  case roaming
  case dataSaver
  case alwaysOriginal
  case original
  case thumbnail
  case size
  case budgetLeft
  case bandwidth
  case battery
  /// Whether the original costs at most one percent of the budget that is left: derived, never set.
  case fits
  /// Known to the application alone.
  case host(HostFact)

  /// What a fact can be.
  package enum Domain: Sendable, Hashable {
    /// One of these words, the thriftiest reading of ignorance not necessarily first.
    case words([String])
    /// A quantity from zero, or unknown.
    case quantity(QuantityUnit)
  }

  /// Every fact but those of the host application, in the fixed order.
  package static let standard: [Fact] = [
    .network, .metered, .roaming, .dataSaver, .alwaysOriginal, .original, .thumbnail, .size, .budgetLeft,
    .bandwidth, .battery, .fits,
  ]

  /// The facts that the laws depend on, which therefore belong to every policy's states.
  static let ofLaws: [Fact] = [.network, .original, .thumbnail]

  /// As policies name it, such as `always original`.
  package var name: String {
    switch self {
    case .network: "network"
    case .metered: "metered"
    case .roaming: "roaming"
    case .dataSaver: "data saver"
    case .alwaysOriginal: "always original"
    case .original: "original"
    case .thumbnail: "thumbnail"
    case .size: "size"
    case .budgetLeft: "budget left"
    case .bandwidth: "bandwidth"
    case .battery: "battery"
    case .fits: "fits"
    case .host(let fact): fact.name
    }
  }

  package var domain: Domain {
    switch self {
    case .network: .words(Self.networks)
    case .metered: .words(Self.meterings)
    case .roaming, .alwaysOriginal: .words(["no", "yes"])
    case .dataSaver: .words(["off", "on"])
    case .original, .thumbnail: .words(Self.presences)
    case .size, .budgetLeft: .quantity(.bytes)
    case .bandwidth: .quantity(.bitsPerSecond)
    case .battery: .quantity(.percent)
    case .fits: .words(["no", "yes", "unknown"])
    case .host(let fact): .words(fact.values)
    }
  }

  private static let networks = NetworkKind.allCases.map(\.rawValue)
  private static let meterings = Metered.allCases.map(\.rawValue)
  private static let presences = Presence.allCases.map(\.rawValue)

  /// The words that the fact can be; nil for a quantity.
  package var words: [String]? {
    if case .words(let words) = domain { words } else { nil }
  }

  private var rank: Int {
    switch self {
    case .network: 0
    case .metered: 1
    case .roaming: 2
    case .dataSaver: 3
    case .alwaysOriginal: 4
    case .original: 5
    case .thumbnail: 6
    case .size: 7
    case .budgetLeft: 8
    case .bandwidth: 9
    case .battery: 10
    case .fits: 11
    case .host: 12
    }
  }
}

extension Fact: Comparable {
  /// Facts of the host application come last, by name.
  package static func < (left: Fact, right: Fact) -> Bool {
    if case .host(let mine) = left, case .host(let other) = right { return mine.name < other.name }
    return left.rank < right.rank
  }
}

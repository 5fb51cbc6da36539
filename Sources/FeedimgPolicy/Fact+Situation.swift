package import FeedimgModel

extension Fact {
  /// What the fact is in a situation, as policies spell it; a quantity exactly, or `unknown`.
  package func value(in situation: Situation) -> String {
    switch domain {
    case .words(let words): words[ordinal(in: situation)]
    case .quantity(let unit): quantity(in: situation).map(unit.text) ?? "unknown"
    }
  }

  /// The index among ``words``; zero for a quantity.
  func ordinal(in situation: Situation) -> Int {
    switch self {
    case .network: situation.network.ordinal
    case .metered: situation.metered.ordinal
    case .roaming: situation.isRoaming ? 1 : 0
    case .dataSaver: situation.savesData ? 1 : 0
    case .alwaysOriginal: situation.alwaysOriginal ? 1 : 0
    case .original: situation.original.ordinal
    case .thumbnail: situation.thumbnail.ordinal
    case .fits: situation.fitsOrdinal
    case .host(let fact): situation.ordinal(of: fact)
    case .size, .budgetLeft, .bandwidth, .battery: 0
    }
  }

  /// The quantity in its unit's base; nil where unknown and for facts that are words.
  func quantity(in situation: Situation) -> Int? {
    switch self {
    case .size: situation.size?.bytes
    case .budgetLeft: situation.budgetLeft?.bytes
    case .bandwidth: situation.bandwidth
    case .battery: situation.battery
    default: nil
    }
  }

  /// Makes the fact the word of that index; a derived fact cannot be set and stays.
  func set(ordinal: Int, in situation: inout Situation) {
    switch self {
    case .network: situation.network = NetworkKind.allCases[ordinal]
    case .metered: situation.metered = Metered.allCases[ordinal]
    case .roaming: situation.isRoaming = ordinal == 1
    case .dataSaver: situation.savesData = ordinal == 1
    case .alwaysOriginal: situation.alwaysOriginal = ordinal == 1
    case .original: situation.original = Presence.allCases[ordinal]
    case .thumbnail: situation.thumbnail = Presence.allCases[ordinal]
    case .host(let fact): situation.hostFacts[fact.name] = fact.values[ordinal]
    case .size, .budgetLeft, .bandwidth, .battery, .fits: break
    }
  }

  /// Makes the fact that quantity; nil for unknown.
  func set(quantity: Int?, in situation: inout Situation) {
    switch self {
    case .size: situation.size = quantity.map { ByteCount($0) }
    case .budgetLeft: situation.budgetLeft = quantity.map { ByteCount($0) }
    case .bandwidth: situation.bandwidth = quantity
    case .battery: situation.battery = quantity
    default: break
    }
  }
}

// Indices in `allCases` order, without the search: these are on the path of every decision.

extension NetworkKind {
  var ordinal: Int {
    switch self {
    case .wifi: 0
    case .ethernet: 1
    case .cellular: 2
    case .other: 3
    case .offline: 4
    }
  }
}

extension Metered {
  var ordinal: Int {
    switch self {
    case .no: 0
    case .yes: 1
    case .unknown: 2
    }
  }
}

extension Presence {
  var ordinal: Int {
    switch self {
    case .cached: 0
    case .remote: 1
    case .none: 2
    }
  }
}

extension Situation {
  /// The index among the values of a fact of the host application; zero where it says nothing that is declared.
  func ordinal(of fact: HostFact) -> Int {
    guard let value = hostFacts[fact.name] else { return 0 }
    return fact.values.firstIndex(of: value) ?? 0
  }

  /// The index among the words of ``Fact/fits``.
  package var fitsOrdinal: Int {
    guard let size, let budgetLeft else { return 2 }
    return size.bytes <= budgetLeft.bytes / 100 ? 1 : 0
  }
}

import FeedimgModel

/// How many transfers to allow, by what is known of the link.
///
/// On a slow link each further transfer makes the one that is looked at slower: two or three are enough to fill it,
/// and nothing else runs beside what is visible. On a fast one more of them hide the time that servers take. Where
/// most of the time nothing comes although transfers run, that time is what is short, and there are more of them; how
/// many follows when it has changed by a fifth, so that the limits do not flutter.
struct Adaptation: Sendable, Hashable {
  /// What the network is said to be.
  var network: NetworkKind
  /// What was measured; nil before that.
  var bandwidth: BandwidthClass?
  /// Of the time in which transfers run, the share in which nothing comes; of late.
  private(set) var idleShare: Double
  /// What it was when the limits last followed it.
  private var heededShare: Double

  init(network: NetworkKind = .other, bandwidth: BandwidthClass? = nil, idleShare: Double = 0) {
    self.network = network
    self.bandwidth = bandwidth
    (self.idleShare, heededShare) = (idleShare, idleShare)
  }

  /// To one host, whatever is measured: more connections than browsers open would be rude.
  static let greatestPerHost = 8

  var limits: TransferLimits {
    let (least, most) = range
    let wanted = Double(least) * Self.stretch(heededShare)
    let total = min(most, max(least, Int(wanted.rounded())))
    let isSlow = least <= 3
    return TransferLimits(
      total: total,
      perHost: min(total, Self.greatestPerHost),
      besideUrgent: isSlow ? 0 : total / 2
    )
  }

  /// Simultaneous transfers where the link is busy all the time, and at most.
  private var range: (least: Int, most: Int) {
    switch bandwidth {
    case .poor: (2, 3)
    case .moderate: (2, 4)
    case .good: (4, 8)
    case .excellent: (8, 32)
    // Until something was measured, as few as on a slow link where it may be one.
    case nil: network == .wifi || network == .ethernet ? (4, 8) : (2, 4)
    }
  }

  /// Takes note of how much of a sample was waiting; old samples fade.
  mutating func note(idleShare share: Double) {
    idleShare += (share - idleShare) * 0.25
    let change = Self.stretch(idleShare) / Self.stretch(heededShare)
    if max(change, 1 / change) > BandwidthMeter.hysteresis { heededShare = idleShare }
  }

  /// How many times the transfers that fill a busy link fill one that is idle for a share of the time.
  private static func stretch(_ idleShare: Double) -> Double { 1 / (1 - min(max(idleShare, 0), 0.95)) }
}

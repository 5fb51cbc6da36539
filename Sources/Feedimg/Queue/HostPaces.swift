/// Which hosts send slowly by themselves, for all that is known, and which because the link is slow.
///
/// By what some hosts send, slow servers cannot be told from a slow link; by what comes when others send beside them it
/// can. Where that is more by half, they did not fill the link: they are slow. Where it is not, the link is. As long
/// as nobody has sent beside them it may be either, so that they must not keep others from being tried.
///
/// Pure: times are on any clock that does not jump.
struct HostPaces: Sendable {
  private struct Record: Sendable {
    var meter = BandwidthMeter()
    var samples = 0
    var time = Duration.zero
    var last: Duration

    /// Nil until it is known.
    var rate: Double? { samples >= enoughSamples ? meter.estimate : nil }

    mutating func add(_ pace: TrafficWindow.Pace, at now: Duration) {
      _ = meter.add(bytes: pace.bytes, in: pace.seconds)
      samples += 1
      time += .seconds(pace.seconds)
      last = now
    }
  }

  /// What was seen is forgotten after so long, as links and servers change, and others are tried anew.
  static let memory = LoadQueue.patience
  /// What was found of hosts holds for so long while they alone send, and no more slowly than then.
  static let certainty = Duration.seconds(30)
  /// Hosts that may well fill the link are let alone for so long: most of what can be seen at once comes in that time.
  static let patience = Duration.seconds(2)
  /// So many times what some hosts bring, and they leave a part of the link that is worth having.
  private static let growth = 1.5
  /// How much comes is known after so many samples.
  private static let enoughSamples = 2

  /// Those that send, or the fewest of them that were the only ones of late.
  private(set) var compared: Set<String> = []
  private var own: Record?
  /// While others sent beside them.
  private var more: Record?
  /// How slow they were when it was found that they do not fill the link.
  private var finding: (category: BandwidthClass?, since: Duration)?

  /// Those that are slow, and of which it is not known that they fill the link.
  var slowHosts: Set<String> {
    guard isSlow, !fillsLink, let own else { return [] }
    return finding != nil || own.time >= Self.patience ? compared : []
  }

  /// Those of which it is known that they do not.
  var certainlySlowHosts: Set<String> { finding == nil ? [] : compared }

  mutating func note(_ pace: TrafficWindow.Pace, at now: Duration) {
    if let record = more, now - record.last >= Self.memory { more = nil }
    if let record = own, now - record.last >= Self.memory { (own, more) = (nil, nil) }
    if own == nil || !compared.isSubset(of: pace.hosts) {
      // What some of them send alone is compared with what all of them did.
      if let own, own.rate != nil, pace.hosts.isStrictSubset(of: compared) { more = own }
      (compared, own, finding) = (pace.hosts, Record(last: now), nil)
    }
    if compared == pace.hosts {
      own?.add(pace, at: now)
    } else {
      var record = more ?? Record(last: now)
      record.add(pace, at: now)
      more = record
    }
    if more?.rate != nil {
      finding = isSlow && !fillsLink ? (own?.meter.category, now) : nil
    } else if let old = finding, old.category != own?.meter.category || now - old.since >= Self.certainty {
      finding = nil
    }
  }

  private var isSlow: Bool {
    guard let own, own.rate != nil, let category = own.meter.category else { return false }
    return category < .good
  }

  private var fillsLink: Bool {
    guard let rate = own?.rate, let linkRate = more?.rate else { return false }
    return rate * Self.growth >= linkRate
  }
}

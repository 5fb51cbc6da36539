import FeedimgModel

/// The bandwidth of the link, measured while downloads run, and the limits that follow (pure).
///
/// Samples are cut out of what all downloads bring together. A sample counts only the time in which some response is
/// arriving, so that waiting for servers does not look like a slow link; the share of waiting is kept apart.
///
/// On a slow link each further download delays the one that is looked at, and two or three fill it. On a fast link more of
/// them hide the time that servers take: the larger the share of waiting, the more downloads run.
struct LinkMeter: Sendable {
  /// A sample ends with so many bytes.
  static let sampleBytes = 64 << 10
  /// Or after so long, if at least ``leastSampleBytes`` came.
  static let sampleTime = Duration.milliseconds(250)
  private static let leastSampleBytes = 4 << 10
  /// To one host, whatever is measured: browsers open no more connections either.
  static let greatestPerHost = 8

  private var network: NetworkKind
  private var bandwidth = BandwidthMeter()
  private(set) var limits: TransferLimits

  /// Downloads whose request is out, and those of them whose response has begun.
  private var (running, receiving) = (0, 0)
  private var bytes = 0
  private var (busyTime, idleTime) = (Duration.zero, Duration.zero)
  private var lastChange: Duration?
  /// Of the time in which downloads run, the share in which nothing comes; old samples fade.
  private var idleShare = 0.0
  /// What it was when the limits last followed it.
  private var heededShare = 0.0

  init(network: NetworkKind = .other) {
    self.network = network
    limits = Self.limits(network, nil, idleShare: 0)
  }

  /// In bits per second, in steps; nil before the first sample.
  var reported: Int? { bandwidth.reported }

  /// Measures another network from now on; what runs goes on.
  mutating func enter(network: NetworkKind, at now: Duration) {
    count(until: now)
    let (running, receiving) = (running, receiving)
    self = LinkMeter(network: network)
    (self.running, self.receiving, lastChange) = (running, receiving, now)
  }

  /// A request goes out.
  mutating func begin(at now: Duration) {
    count(until: now)
    running += 1
  }

  /// The head of its response came.
  mutating func respond(at now: Duration) {
    count(until: now)
    receiving += 1
  }

  /// Bytes of a body came.
  ///
  /// - Returns: Whether the limits changed.
  mutating func receive(_ count: Int, at now: Duration) -> Bool {
    self.count(until: now)
    bytes += count
    guard bytes >= Self.sampleBytes || busyTime >= Self.sampleTime && bytes >= Self.leastSampleBytes else {
      return false
    }
    let (busy, idle) = (busyTime / .seconds(1), idleTime / .seconds(1))
    bandwidth.add(bytes: bytes, in: busy)
    if busy + idle > 0 { note(idleShare: idle / (busy + idle)) }
    (bytes, busyTime, idleTime) = (0, .zero, .zero)
    let old = limits
    limits = Self.limits(network, bandwidth.category, idleShare: heededShare)
    return limits != old
  }

  /// A transfer has ended, after or without ``respond(at:)``.
  mutating func end(hasResponse: Bool, at now: Duration) {
    count(until: now)
    running = max(0, running - 1)
    if hasResponse { receiving = max(0, receiving - 1) }
  }

  private mutating func count(until now: Duration) {
    defer { lastChange = now }
    guard let lastChange, now > lastChange else { return }
    if receiving > 0 { busyTime += now - lastChange } else if running > 0 { idleTime += now - lastChange }
  }

  private mutating func note(idleShare share: Double) {
    idleShare += (share - idleShare) * 0.25
    let change = Self.stretch(idleShare) / Self.stretch(heededShare)
    // By a fifth, so that the limits do not flutter.
    if max(change, 1 / change) > BandwidthMeter.hysteresis { heededShare = idleShare }
  }

  private static func limits(
    _ network: NetworkKind,
    _ bandwidth: BandwidthClass?,
    idleShare: Double
  ) -> TransferLimits {
    // Downloads where the link is busy all the time, and at most.
    let (least, most) =
      switch bandwidth {
      case .poor: (2, 3)
      case .moderate: (2, 4)
      case .good: (4, 8)
      case .excellent: (8, 32)
      // Before the first sample, as few as on a slow link where it may be one.
      case nil: network == .wifi || network == .ethernet ? (4, 8) : (2, 4)
      }
    let wanted = Double(least) * stretch(idleShare)
    let total = min(most, max(least, Int(wanted.rounded())))
    return TransferLimits(
      total: total,
      perHost: min(total, greatestPerHost),
      besideUrgent: least <= 3 ? 0 : total / 2
    )
  }

  /// How many times the downloads that fill a busy link fill one that is idle for a share of the time.
  private static func stretch(_ idleShare: Double) -> Double { 1 / (1 - min(max(idleShare, 0), 0.95)) }
}

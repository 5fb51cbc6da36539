import FeedimgModel
import Glibc

/// Measures the bandwidth of the link while downloads run, and derives the limits (pure).
///
/// On a slow link, each additional download delays the visible one, and two or three downloads fill the link.
/// On a fast link, more downloads hide the response times of servers. The larger the share of waiting, the
/// more downloads run.
struct LinkMeter: Sendable {
  /// The number of bytes that ends a sample.
  static let sampleBytes = 64 << 10
  /// The time that ends a sample of at least ``minimumSampleBytes``.
  static let sampleTime = Duration.milliseconds(250)
  private static let minimumSampleBytes = 4 << 10
  /// The largest number of downloads to one host, similar to the connection limit of browsers.
  static let maximumPerHost = 8

  private var network: NetworkKind
  /// The identity of the network; see ``BandwidthMemory/path(of:)``.
  private let path: String
  private var bandwidth = BandwidthMeter()
  /// The estimate in steps, and the time of its last sample; nil before the first sample.
  private(set) var measurement: BandwidthMeasurement?
  private(set) var limits: TransferLimits

  private var sample = LinkSample()
  private var idleShare = IdleShare()

  init(network: NetworkKind = .other, path: String = "") {
    (self.network, self.path) = (network, path)
    limits = Self.limits(network, nil, idleShare)
  }

  /// Starts to measure another network; running downloads continue.
  mutating func enter(network: NetworkState, at now: Duration) {
    var sample = sample
    sample.count(until: now)
    sample.restart()
    self = LinkMeter(network: network.kind, path: network.pathIdentity)
    self.sample = sample
  }

  mutating func begin(at now: Duration) {
    sample.count(until: now)
    sample.running += 1
  }

  /// Records that the head of the response arrived.
  mutating func respond(at now: Duration) {
    sample.count(until: now)
    sample.receiving += 1
  }

  /// Records that bytes of a body arrived.
  ///
  /// - Parameters:
  ///   - count: The number of bytes.
  ///   - now: The time of the clock for waits.
  ///   - date: The time in seconds since 1970, for ``measurement``.
  /// - Returns: Whether the limits changed.
  mutating func receive(_ count: Int, at now: Duration, date: Double) -> Bool {
    sample.count(until: now)
    sample.bytes += count
    guard
      sample.bytes >= Self.sampleBytes
        || sample.busyTime >= Self.sampleTime && sample.bytes >= Self.minimumSampleBytes
    else { return false }
    let (busy, idle) = (sample.busyTime / .seconds(1), sample.idleTime / .seconds(1))
    bandwidth.add(bytes: sample.bytes, in: busy)
    measurement = bandwidth.reported.map {
      BandwidthMeasurement(bitsPerSecond: $0, network: path, time: date)
    }
    if busy + idle > 0 { idleShare.add(idle / (busy + idle)) }
    sample.restart()
    let old = limits
    limits = Self.limits(network, bandwidth.category, idleShare)
    return limits != old
  }

  /// Records that a transfer ended, with or without a response.
  mutating func end(hasResponse: Bool, at now: Duration) {
    sample.count(until: now)
    sample.running = max(0, sample.running - 1)
    if hasResponse { sample.receiving = max(0, sample.receiving - 1) }
  }

  private static func limits(
    _ network: NetworkKind,
    _ bandwidth: BandwidthClass?,
    _ idleShare: IdleShare
  ) -> TransferLimits {
    // The number of downloads on a link that is always busy, and the largest number.
    let (least, most) =
      switch bandwidth {
      case .poor: (2, 3)
      case .moderate: (2, 4)
      case .good: (4, 8)
      case .excellent: (8, 32)
      // Before the first sample, start low on links that may be slow.
      case nil: network == .wifi || network == .ethernet ? (4, 8) : (2, 4)
      }
    let wanted = Double(least) * idleShare.factor
    let total = min(most, max(least, Int(wanted.rounded())))
    return TransferLimits(
      total: total,
      perHost: min(total, maximumPerHost),
      besideUrgent: least <= 3 ? 0 : total / 2
    )
  }
}

/// The bytes that arrive during a sample, for all downloads together, and the time that they take.
///
/// Only the time in which a response is arriving is busy, so that slow servers do not look like a slow link.
private struct LinkSample {
  /// The number of downloads whose request was sent.
  var running = 0
  /// The number of downloads whose response has begun.
  var receiving = 0
  var bytes = 0
  private(set) var busyTime = Duration.zero
  /// The time in which downloads only waited for responses.
  private(set) var idleTime = Duration.zero
  private var countedUntil: Duration?

  /// Counts the time since the last call; call it before each change.
  mutating func count(until now: Duration) {
    defer { countedUntil = now }
    guard let countedUntil, now > countedUntil else { return }
    if receiving > 0 { busyTime += now - countedUntil } else if running > 0 { idleTime += now - countedUntil }
  }

  /// Begins another sample; running downloads continue.
  mutating func restart() { (bytes, busyTime, idleTime) = (0, .zero, .zero) }
}

/// The share of the time with downloads in which nothing arrives.
private struct IdleShare {
  /// The mean of the samples; old samples fade.
  private var mean = 0.0
  /// The mean that the factor follows.
  private var applied = 0.0

  /// The factor by which more downloads fill the link.
  var factor: Double { Self.factor(applied) }

  private static func factor(_ share: Double) -> Double { 1 / (1 - min(max(share, 0), 0.95)) }

  mutating func add(_ share: Double) {
    mean += (share - mean) * 0.25
    let change = Self.factor(mean) / Self.factor(applied)
    // The factor follows changes of a fifth or more, so that it does not fluctuate.
    if max(change, 1 / change) > BandwidthMeter.hysteresis { applied = mean }
  }
}

/// The number of downloads that may run at the same time.
struct TransferLimits: Sendable, Hashable {
  /// The limit over all hosts; at least one.
  var total: Int
  /// The limit for one host; at least one.
  var perHost: Int
  /// The limit for downloads below the most urgent priority that runs or could start.
  var besideUrgent: Int
}

/// The speed of the link, in classes.
enum BandwidthClass: Sendable, Hashable, CaseIterable, Comparable {
  /// Under 500 kbit/s: 2G, or a link that barely works.
  case poor
  /// Under 4 Mbit/s: 3G, or crowded Wi-Fi.
  case moderate
  /// Under 20 Mbit/s.
  case good
  case excellent

  /// The upper bounds of the classes in bits per second, starting with ``poor``.
  private static let bounds = [500_000.0, 4_000_000, 20_000_000]

  init(_ bitsPerSecond: Double) {
    self = zip(Self.allCases, Self.bounds).first { bitsPerSecond < $1 }?.0 ?? .excellent
  }

  /// Returns the class after a measurement; it differs only if the measurement passes a bound by the factor.
  func following(_ bitsPerSecond: Double, hysteresis: Double) -> BandwidthClass {
    let raised = BandwidthClass(bitsPerSecond / hysteresis)
    let lowered = BandwidthClass(bitsPerSecond * hysteresis)
    return raised > self ? raised : lowered < self ? lowered : self
  }
}

/// Estimates the bandwidth of the link from samples that vary (pure).
///
/// The estimate is a mean of logarithms, in which old samples fade. The first sample sets the class. Later,
/// the class changes only if five consecutive samples agree on another class, a fifth beyond its bounds. Both
/// numbers come from Facebook's network-connection-class.
struct BandwidthMeter: Sendable {
  /// The number of consecutive samples that must agree on another class.
  static let samplesToChange = 5
  /// The factor by which a measurement must exceed a bound.
  static let hysteresis = 1.2
  /// The weight of a new sample against all earlier ones.
  private static let weight = 0.25
  /// The least factor by which the reported estimate changes.
  private static let reportStep = 1.1

  /// The class; nil before the first sample.
  private(set) var category: BandwidthClass?
  /// The estimate for users and policies, in bits per second and in steps; nil before the first sample.
  private(set) var reported: Int?
  private var logarithm: Double?
  private var candidate: (category: BandwidthClass, samples: Int)?

  /// Adds a sample.
  ///
  /// - Parameters:
  ///   - bytes: The number of bytes that arrived.
  ///   - seconds: The time that they took; zero means that the link is fast.
  mutating func add(bytes: Int, in seconds: Double) {
    guard bytes > 0, seconds >= 0 else { return }
    // A time of at least one microsecond keeps the rate finite.
    let rate = Double(bytes) * 8 / max(seconds, 1e-6)
    let mean = logarithm.map { $0 + (log(rate) - $0) * Self.weight } ?? log(rate)
    logarithm = mean
    report(exp(mean))
    follow(exp(mean))
  }

  private mutating func report(_ estimate: Double) {
    if let reported, estimate < Double(reported) * Self.reportStep,
      estimate > Double(reported) / Self.reportStep
    {
      return
    }
    reported = Int(min(estimate, 1e15).rounded())
  }

  private mutating func follow(_ estimate: Double) {
    guard let current = category else {
      category = BandwidthClass(estimate)
      return
    }
    let next = current.following(estimate, hysteresis: Self.hysteresis)
    guard next != current else {
      candidate = nil
      return
    }
    let samples = candidate.map { $0.category == next ? $0.samples + 1 : 1 } ?? 1
    candidate = (next, samples)
    if samples >= Self.samplesToChange { (category, candidate) = (next, nil) }
  }
}

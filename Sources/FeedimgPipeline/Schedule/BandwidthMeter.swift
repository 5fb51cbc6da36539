import Glibc

/// The speed of the link, in classes.
enum BandwidthClass: Int, Sendable, Hashable, CaseIterable, Comparable {
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
    let index = Self.bounds.firstIndex { bitsPerSecond < $0 } ?? Self.bounds.count
    self = Self(rawValue: index) ?? .excellent
  }

  /// Returns the class after a measurement; it differs only if the measurement passes a bound by the factor.
  func following(_ bitsPerSecond: Double, hysteresis: Double) -> BandwidthClass {
    let raised = BandwidthClass(bitsPerSecond / hysteresis)
    let lowered = BandwidthClass(bitsPerSecond * hysteresis)
    return raised > self ? raised : lowered < self ? lowered : self
  }

  static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
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

  /// The estimate in bits per second; nil before the first sample.
  var estimate: Double? { logarithm.map { exp($0) } }

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

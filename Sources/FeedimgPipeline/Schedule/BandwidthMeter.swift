import Glibc

/// How fast the link is, in classes as people know them.
enum BandwidthClass: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// Under 500 kbit/s: 2G, or a link that barely works.
  case poor
  /// Under 4 Mbit/s: 3G, a crowded Wi-Fi.
  case moderate
  /// Under 20 Mbit/s.
  case good
  case excellent

  /// Where the next class begins, in bits per second; the first for ``poor``.
  private static let bounds = [500_000.0, 4_000_000, 20_000_000]

  init(_ bitsPerSecond: Double) {
    let index = Self.bounds.firstIndex { bitsPerSecond < $0 } ?? Self.bounds.count
    self = Self(rawValue: index) ?? .excellent
  }

  /// The class after a measurement, which leaves this one only beyond its bounds by a factor.
  func following(_ bitsPerSecond: Double, hysteresis: Double) -> BandwidthClass {
    let raised = BandwidthClass(bitsPerSecond / hysteresis)
    let lowered = BandwidthClass(bitsPerSecond * hysteresis)
    return raised > self ? raised : lowered < self ? lowered : self
  }

  static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}

/// The bandwidth of the link, estimated from samples that scatter (pure).
///
/// The estimate is a mean of logarithms, in which old samples fade. The class follows it only when five samples in a row
/// agree on another one, beyond its bounds by a fifth (Facebook's network-connection-class has both numbers). The first
/// sample counts at once.
struct BandwidthMeter: Sendable {
  /// Samples in a row that must agree on another class.
  static let samplesToChange = 5
  /// A class ends a fifth beyond its bounds.
  static let hysteresis = 1.2
  /// How much a sample counts against all before it.
  private static let weight = 0.25
  /// The reported estimate changes by a tenth at least.
  private static let reportStep = 1.1

  /// Nil before the first sample.
  private(set) var category: BandwidthClass?
  /// In bits per second, for people and policies: changes in steps; nil before the first sample.
  private(set) var reported: Int?
  private var logarithm: Double?
  private var candidate: (category: BandwidthClass, samples: Int)?

  /// In bits per second; nil before the first sample.
  var estimate: Double? { logarithm.map { exp($0) } }

  /// Takes a sample.
  ///
  /// - Parameters:
  ///   - bytes: What came.
  ///   - seconds: The time that it took; zero only says that the link is fast.
  mutating func add(bytes: Int, in seconds: Double) {
    guard bytes > 0, seconds >= 0 else { return }
    // A thousandth of a millisecond keeps the rate finite.
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

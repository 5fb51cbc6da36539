import Glibc

/// The bandwidth of the link, out of samples that scatter.
///
/// The estimate is a mean of logarithms, in which old samples fade; the class follows it only when it has left the
/// present one by a fifth for five samples, so that a link at a bound does not flutter (Facebook's
/// network-connection-class has both numbers). The first sample is believed at once.
struct BandwidthMeter: Sendable {
  /// Samples in a row that must agree on another class.
  static let samplesToChange = 5
  /// A class ends a fifth beyond its bounds.
  static let hysteresis = 1.2
  /// How much a sample counts against all before it.
  private static let weight = 0.25
  /// The estimate that is told changes by a tenth at least.
  private static let tellingStep = 1.1

  /// Nil before the first sample.
  private(set) var category: BandwidthClass?
  /// In bits per second, for people and policies: changes in steps; nil before the first sample.
  private(set) var told: Int?
  private var logarithm: Double?
  private var leaning: (category: BandwidthClass, samples: Int)?

  /// In bits per second; nil before the first sample.
  var estimate: Double? { logarithm.map { exp($0) } }

  /// Takes a sample.
  ///
  /// - Parameters:
  ///   - bytes: So many came.
  ///   - seconds: In so long; a sample that took no time says nothing but that the link is fast.
  /// - Returns: The new class if it changed.
  mutating func add(bytes: Int, in seconds: Double) -> BandwidthClass? {
    guard bytes > 0, seconds >= 0 else { return nil }
    // A thousandth of a millisecond keeps the rate finite.
    let rate = Double(bytes) * 8 / max(seconds, 1e-6)
    let mean = logarithm.map { $0 + (log(rate) - $0) * Self.weight } ?? log(rate)
    logarithm = mean
    tell(exp(mean))
    return follow(exp(mean))
  }

  /// Begins anew, as on another network.
  mutating func reset() { self = BandwidthMeter() }

  private mutating func tell(_ estimate: Double) {
    if let told, estimate < Double(told) * Self.tellingStep, estimate > Double(told) / Self.tellingStep {
      return
    }
    told = Int(min(estimate, 1e15).rounded())
  }

  private mutating func follow(_ estimate: Double) -> BandwidthClass? {
    guard let current = category else {
      category = BandwidthClass(estimate)
      return category
    }
    let next = current.following(estimate, hysteresis: Self.hysteresis)
    guard next != current else {
      leaning = nil
      return nil
    }
    let samples = leaning.map { $0.category == next ? $0.samples + 1 : 1 } ?? 1
    leaning = (next, samples)
    guard samples >= Self.samplesToChange else { return nil }
    (category, leaning) = (next, nil)
    return next
  }
}

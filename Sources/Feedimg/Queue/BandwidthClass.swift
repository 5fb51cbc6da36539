/// How fast the link is, by the bytes that have come over it.
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

  /// The class after a measurement, where a bound must be passed by a factor to leave this one.
  func following(_ bitsPerSecond: Double, hysteresis: Double) -> BandwidthClass {
    let raised = BandwidthClass(bitsPerSecond / hysteresis)
    let lowered = BandwidthClass(bitsPerSecond * hysteresis)
    return raised > self ? raised : lowered < self ? lowered : self
  }

  static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}

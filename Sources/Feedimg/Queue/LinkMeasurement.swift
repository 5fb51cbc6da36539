import FeedimgModel

/// What is measured of the link while transfers run, and the limits that follow for them.
///
/// Pure: times are on any clock that does not jump.
struct LinkMeasurement: Sendable {
  private var adaptation: Adaptation
  private var meter = BandwidthMeter()
  private var window = TrafficWindow()
  private var paces = HostPaces()
  private(set) var limits: TransferLimits

  init(network: NetworkKind = .other) {
    adaptation = Adaptation(network: network)
    limits = adaptation.limits
  }

  /// In bits per second, in steps; nil before the first sample.
  var told: Int? { meter.told }

  /// Begins anew, on another network.
  mutating func enter(network: NetworkKind, at now: Duration) {
    adaptation = Adaptation(network: network)
    meter.reset()
    paces = HostPaces()
    window.reset(at: now)
    limits = adaptation.limits
  }

  /// A request goes out.
  mutating func begin(at now: Duration) { window.begin(at: now) }

  /// The first bytes of its answer came.
  mutating func answered(by host: String, at now: Duration) { window.answered(by: host, at: now) }

  /// Bytes of a body came.
  mutating func receive(_ count: Int, at now: Duration) {
    let sample = window.receive(count, at: now)
    let pace = window.takePace()
    if let sample {
      _ = meter.add(bytes: sample.bytes, in: sample.seconds)
      adaptation.note(idleShare: sample.idleShare)
      adaptation.bandwidth = meter.category
    }
    if let pace {
      paces.note(pace, at: now)
      (window.compared, window.slowHosts) = (paces.compared, paces.certainlySlowHosts)
    }
    guard sample != nil || pace != nil else { return }
    limits = adaptation.limits
    limits.slowHosts = paces.slowHosts
  }

  /// A transfer has ended, after or without ``answered(by:at:)``.
  mutating func end(_ host: String, wasAnswered: Bool, at now: Duration) {
    window.end(host, wasAnswered: wasAnswered, at: now)
  }
}

import FeedimgModel

@testable import Feedimg
@testable import FeedimgPipeline

/// Simulated downloads over one shared link, with servers of different speeds, the scheduler and its meter.
struct LinkScene {
  private struct Download {
    let name: String
    let host: String
    var left: Double
    /// The start of its response.
    ///
    /// Nil while it has no slot.
    var responseTime: Duration?
    var isResponding = false
  }

  private static let step = Duration.milliseconds(20)
  private static let roundTrip = Duration.milliseconds(60)

  /// In bytes per second.
  var linkRate: Double
  /// The highest total rate of each slow server.
  ///
  /// Other servers send as fast as the link.
  let serverRates: [String: Double]
  private var scheduler: SchedulerState
  private(set) var link: LinkMeter
  private(set) var now = Duration.zero
  private var downloads: [SchedulerState.Ticket: Download] = [:]
  /// When each download was complete.
  private(set) var ends: [String: Duration] = [:]
  /// The bytes that each host sent.
  private(set) var received: [String: Double] = [:]

  init(_ network: NetworkKind, linkRate: Double, serverRates: [String: Double] = [:]) {
    (self.linkRate, self.serverRates) = (linkRate, serverRates)
    link = LinkMeter(network: network)
    scheduler = SchedulerState(limits: link.limits)
  }

  mutating func enter(_ name: String, _ priority: LoadPriority, host: String, bytes: Double) {
    let ticket = scheduler.enter(host: host, priority: priority)
    downloads[ticket] = Download(name: name, host: host, left: bytes)
    advance()
  }

  mutating func pass(_ time: Duration) {
    let end = now + time
    while now < end { pass() }
  }

  /// - Returns: The time until all of them were complete. Nil if the given time was not enough.
  mutating func pass(atMost time: Duration, until names: [String]) -> Duration? {
    let begin = now
    while now < begin + time {
      pass()
      if names.allSatisfy({ ends[$0] != nil }) { return now - begin }
    }
    return nil
  }

  private mutating func pass() {
    now += Self.step
    for (ticket, rate) in rates() { receive(rate * (Self.step / .seconds(1)), ticket) }
    for (ticket, download) in downloads where !download.isResponding {
      guard let time = download.responseTime, time <= now else { continue }
      downloads[ticket]?.isResponding = true
      link.respond(at: now)
    }
    advance()
  }

  /// The rate of each download: limited by its server and by its fair share of the link.
  private func rates() -> [(SchedulerState.Ticket, Double)] {
    let responding = downloads.filter(\.value.isResponding)
    let perHost = Dictionary(grouping: responding.values, by: \.host).mapValues(\.count)
    var caps = responding.map { ticket, download in
      (ticket, (serverRates[download.host] ?? .infinity) / Double(perHost[download.host] ?? 1))
    }
    caps.sort { $0.1 < $1.1 }
    var left = linkRate
    return caps.enumerated().map { index, cap in
      let rate = min(cap.1, left / Double(caps.count - index))
      left -= rate
      return (cap.0, rate)
    }
  }

  private mutating func receive(_ bytes: Double, _ ticket: SchedulerState.Ticket) {
    // A preemption may have stopped it meanwhile.
    guard let download = downloads[ticket], download.isResponding else { return }
    downloads[ticket]?.left -= bytes
    received[download.host, default: 0] += bytes
    scheduler.received(ticket, Int(bytes.rounded()), at: now)
    if link.receive(Int(bytes.rounded()), at: now) { scheduler.setLimits(link.limits) }
    if download.left <= bytes {
      downloads[ticket] = nil
      ends[download.name] = now
      link.end(hasResponse: true, at: now)
      scheduler.leave(ticket)
    }
    advance()
  }

  private mutating func advance() {
    var actions = scheduler.advance(at: now) { _ in true }
    while !actions.isEmpty {
      switch actions.removeFirst() {
      case .start(let ticket):
        downloads[ticket]?.responseTime = now + Self.roundTrip
        link.begin(at: now)
      case .preempt(let ticket):
        guard let download = downloads[ticket] else { continue }
        link.end(hasResponse: download.isResponding, at: now)
        downloads[ticket]?.responseTime = nil
        downloads[ticket]?.isResponding = false
        scheduler.stopped(ticket, at: now)
        actions += scheduler.advance(at: now) { _ in true }
      }
    }
  }
}

import FeedimgModel

@testable import Feedimg

/// Loads over a link that servers share, some of them slower than it: the queue and what it measures, without waiting.
struct LinkScene {
  private struct Load {
    let name: String
    let host: String
    var left: Double
    /// When its answer begins; nil while it has no place.
    var answer: Duration?
    var isAnswered = false
  }

  private static let step = Duration.milliseconds(20)
  private static let roundTrip = Duration.milliseconds(60)

  /// In bytes per second.
  var linkRate: Double
  /// What a server sends at most, over all its transfers; no less than the link where it is not said.
  var serverRates: [String: Double]
  private var queue: LoadQueue
  private(set) var link: LinkMeasurement
  private(set) var now = Duration.zero
  private var loads: [LoadQueue.Ticket: Load] = [:]
  /// When each load was complete.
  private(set) var ends: [String: Duration] = [:]
  /// What each host sent.
  private(set) var received: [String: Double] = [:]

  init(_ network: NetworkKind, linkRate: Double, serverRates: [String: Double] = [:]) {
    (self.linkRate, self.serverRates) = (linkRate, serverRates)
    link = LinkMeasurement(network: network)
    queue = LoadQueue(limits: link.limits)
  }

  /// Those that have a place.
  var running: Set<String> { Set(loads.values.filter { $0.answer != nil }.map(\.name)) }

  mutating func enter(_ name: String, _ priority: LoadPriority, host: String, bytes: Double) {
    let (ticket, steps) = queue.enter(host: host, priority: priority, at: now)
    loads[ticket] = Load(name: name, host: host, left: bytes)
    follow(steps)
  }

  mutating func pass(_ time: Duration) {
    let end = now + time
    while now < end { pass() }
  }

  /// - Returns: How long it took until they all had come to their end; nil if that is not enough.
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
    for (ticket, load) in loads where !load.isAnswered && load.answer.map({ $0 <= now }) ?? false {
      loads[ticket]?.isAnswered = true
      link.answered(by: load.host, at: now)
      follow(queue.answered(ticket, at: now))
    }
    follow(queue.tick(at: now))
  }

  /// What each transfer gets: of its server, and of the link, as much as every other, and of what others leave.
  private func rates() -> [(LoadQueue.Ticket, Double)] {
    let coming = loads.filter(\.value.isAnswered)
    let perHost = Dictionary(grouping: coming.values, by: \.host).mapValues(\.count)
    var caps = coming.map { ticket, load in
      (ticket, (serverRates[load.host] ?? .infinity) / Double(perHost[load.host] ?? 1))
    }
    caps.sort { $0.1 < $1.1 }
    var left = linkRate
    return caps.enumerated().map { index, cap in
      let rate = min(cap.1, left / Double(caps.count - index))
      left -= rate
      return (cap.0, rate)
    }
  }

  private mutating func receive(_ bytes: Double, _ ticket: LoadQueue.Ticket) {
    // It may have been stopped by what others brought.
    guard let load = loads[ticket], load.isAnswered else { return }
    loads[ticket]?.left -= bytes
    received[load.host, default: 0] += bytes
    link.receive(Int(bytes.rounded()), at: now)
    follow(queue.answered(ticket, at: now))
    if link.limits != queue.limits { follow(queue.setLimits(link.limits, at: now)) }
    guard let load = loads[ticket], load.left <= 0, load.isAnswered else { return }
    loads[ticket] = nil
    ends[load.name] = now
    link.end(load.host, wasAnswered: true, at: now)
    follow(queue.leave(ticket, at: now))
  }

  private mutating func follow(_ steps: [LoadQueue.Step]) {
    for step in steps {
      switch step {
      case .start(let ticket):
        loads[ticket]?.answer = now + Self.roundTrip
        link.begin(at: now)
      case .stop(let ticket):
        guard let load = loads[ticket] else { continue }
        link.end(load.host, wasAnswered: load.isAnswered, at: now)
        loads[ticket]?.answer = nil
        loads[ticket]?.isAnswered = false
        follow(queue.stopped(ticket, at: now))
      }
    }
  }
}

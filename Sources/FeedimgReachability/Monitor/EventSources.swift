import CNetlink
import FeedimgSystem
import Glibc

/// All sources that wake the monitor's thread.
final class EventSources {
  /// The reasons to wake.
  struct Wake: OptionSet {
    let rawValue: Int
    /// Another thread called for attention.
    static let waker = Wake(rawValue: 1 << 0)
    /// The network may have changed.
    ///
    /// The events are still to be drained.
    static let event = Wake(rawValue: 1 << 1)
    /// The machine resumed from sleep, or the user set its clock.
    static let resume = Wake(rawValue: 1 << 2)
  }

  private let waker: Waker
  private let events = NetworkEvents(try? NetlinkEvents())
  private let resume = ResumeTimer()

  /// Whether the kernel sends events.
  var hasNetlink: Bool { events.netlink != nil }

  init(waker: Waker) { self.waker = waker }

  /// Subscribes to services, unless it already has.
  func listen(to services: NetworkServices) { events.listen(to: services) }

  /// Sleeps until an event, or until the time ends.
  ///
  /// - Parameters:
  ///   - time: The longest sleep.
  ///   - orEvent: Whether a network event ends the sleep.
  /// - Returns: The reasons to wake.
  func wait(atMost time: Duration, orEvent: Bool) -> Wake {
    // poll(2) ignores negative descriptors.
    let descriptors = [
      waker.descriptor,
      orEvent ? events.netlink?.descriptor ?? -1 : -1,
      orEvent ? events.system?.descriptor ?? -1 : -1,
      orEvent ? events.portal?.descriptor ?? -1 : -1,
      resume?.descriptor ?? -1,
    ]
    var waits = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&waits, nfds_t(waits.count), Self.milliseconds(time)) > 0 else { return [] }
    var wake = Wake()
    if waits[0].revents != 0 {
      waker.clear()
      wake.insert(.waker)
    }
    if waits[1...3].contains(where: { $0.revents != 0 }) { wake.insert(.event) }
    if waits[4].revents != 0 {
      resume?.arm()
      wake.insert(.resume)
    }
    return wake
  }

  /// Discards the events that have arrived.
  func drain() -> NetworkWatch.Events { events.drain() }

  /// Rounds up, so that the time has passed when the sleep ends.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let milliseconds = duration / .milliseconds(1)
    return milliseconds < 0 ? 0 : Int32(min(milliseconds + 1, Double(Int32.max)))
  }
}

/// Becomes readable when the machine resumes from sleep, or when the user sets its clock.
///
/// On both occasions, the kernel cancels a timer on the wall clock (`TFD_TIMER_CANCEL_ON_SET`). So no thread
/// has to wake and compare clocks.
final class ResumeTimer {
  let descriptor: Int32

  /// - Returns: Nil if the system has no such timers.
  init?() {
    descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
    arm()
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Resets the timer.
  func arm() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    // A time that never comes.
    var time = itimerspec()
    time.it_value.tv_sec = .max / 2
    let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
    timerfd_settime(descriptor, flags, &time, nil)
  }
}

/// The events that may change the network or its metering.
///
/// Use it from one thread at a time.
final class NetworkEvents {
  /// Nil if the kernel sends no events.
  let netlink: NetlinkEvents?
  private(set) var system: ServiceSignals?
  private(set) var portal: ServiceSignals?

  init(_ netlink: NetlinkEvents?) { self.netlink = netlink }

  /// Subscribes to services, unless it already has.
  ///
  /// The bus's confirmation is the first event.
  func listen(to services: NetworkServices) {
    if system == nil { system = ServiceSignals(ofSystem: services.system) }
    if portal == nil { portal = ServiceSignals(ofPortal: services.portal) }
  }

  /// Discards the events that have arrived.
  func drain() -> NetworkWatch.Events {
    let events = netlink?.drain() ?? .none
    let signals = Self.drain(&system) + Self.drain(&portal)
    return events == .none && signals > 0 ? .some : events
  }

  /// - Returns: The number of messages. A lost connection is closed and counts as one.
  private static func drain(_ signals: inout ServiceSignals?) -> Int {
    guard let bus = signals else { return 0 }
    if let count = bus.drain() { return count }
    signals = nil
    return 1
  }
}

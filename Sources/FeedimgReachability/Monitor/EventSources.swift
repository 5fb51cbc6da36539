import CNetlink
import FeedimgSystem
import Glibc

/// All sources that wake the monitor's thread.
final class EventSources {
  /// The reasons to wake.
  struct Wake {
    /// The network may have changed.
    ///
    /// The events are still to be drained.
    var hasEvents = false
    /// The machine resumed from sleep, or the user set its clock.
    var isResumed = false
  }

  let events = NetworkEvents(try? NetlinkEvents())
  private let waker: Waker
  private let resume = ResumeTimer()

  init(waker: Waker) { self.waker = waker }

  /// Sleeps for a time, or until another thread, the clock or, with `orEvent`, a network event ends the sleep.
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
    guard poll(&waits, nfds_t(waits.count), Self.milliseconds(time)) > 0 else { return Wake() }
    let isReady = waits.map { $0.revents != 0 }
    if isReady[0] { waker.clear() }
    if isReady[4] { resume?.arm() }
    return Wake(hasEvents: isReady[1...3].contains(true), isResumed: isReady[4])
  }

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

  /// Returns nil if the system has no such timers.
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

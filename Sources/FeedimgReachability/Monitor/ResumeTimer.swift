import CNetlink
import Glibc

/// Becomes readable when the computer wakes from sleep, or its clock is set.
///
/// A timer on the wall clock that may be cancelled (`TFD_TIMER_CANCEL_ON_SET`): the kernel cancels it on
/// both occasions, so that nobody has to wake up to see whether time has jumped.
final class ResumeTimer {
  let descriptor: Int32

  /// - Returns: Nil where the system has no such timers.
  init?() {
    descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
    arm()
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Makes it ready for the next time.
  func arm() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    // Never by itself, as far as anybody alive is concerned.
    var time = itimerspec()
    time.it_value.tv_sec = .max / 2
    let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
    timerfd_settime(descriptor, flags, &time, nil)
  }
}

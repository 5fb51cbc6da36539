import Glibc

/// The time of day, for values that are compared after a restart.
package enum SystemClock {
  /// Seconds since 1970.
  package static func seconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }
}

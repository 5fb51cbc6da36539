import Glibc

/// A time of the clock that does not run while the machine sleeps, in nanoseconds (clock_gettime(2), CLOCK_MONOTONIC).
///
/// A number, as the thread that transfers compares and keeps times for every piece that comes: what the instants of the
/// standard library are made of is hidden from other modules, which makes each of these steps a call.
struct Moment: Hashable, Comparable {
  private var nanoseconds: Int64

  static var now: Moment {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  static func < (one: Moment, other: Moment) -> Bool { one.nanoseconds < other.nanoseconds }

  /// How long after this time the other one is.
  func nanoseconds(to other: Moment) -> Int64 { other.nanoseconds - nanoseconds }

  /// Later by that many nanoseconds, which may be as many as a hundred years have.
  func advanced(byNanoseconds count: Int64) -> Moment { Moment(nanoseconds: nanoseconds + count) }
}

extension Duration {
  /// Rounded down; the greatest number where it is longer.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isTooLong else { return seconds < 0 ? .min : .max }
    let (sum, isTooMuch) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isTooMuch ? .max : sum
  }
}

extension Duration {
  /// Such as `10 s`, or `250 ms` where it is no whole number of seconds.
  var words: String {
    components.attoseconds == 0 ? "\(components.seconds) s" : "\(milliseconds) ms"
  }

  /// Rounded up, so that a wait of that time does not end early; the greatest number where it is longer.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    guard !isTooLong else { return seconds < 0 ? .min : .max }
    let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    let (sum, isTooMuch) = whole.addingReportingOverflow(part)
    return isTooMuch ? .max : sum
  }
}

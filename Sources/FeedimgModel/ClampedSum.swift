extension FixedWidthInteger {
  /// The sum, or the nearest number of the type if the type cannot hold the sum.
  package func addingClamped(_ other: Self) -> Self {
    let (sum, isOutside) = addingReportingOverflow(other)
    guard isOutside else { return sum }
    return other < 0 ? .min : .max
  }
}

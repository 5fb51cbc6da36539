/// A function of the program with its payload.
struct Callback<Function>: @unchecked Sendable {
  // Unchecked: the header tells the program on which thread the function runs.
  let function: Function
  let payload: UnsafeMutableRawPointer?

  /// - Returns: Nil for a function that is NULL.
  init?(_ function: Function?, _ payload: UnsafeMutableRawPointer?) {
    guard let function else { return nil }
    (self.function, self.payload) = (function, payload)
  }
}

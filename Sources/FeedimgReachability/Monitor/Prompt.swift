/// Something beside the network after whose changes it is worth another look, such as the user's marks.
package struct Prompt: Sendable {
  /// Becomes readable when it may have changed.
  let descriptor: Int32
  private let change: @Sendable () -> Bool

  /// Makes a prompt.
  ///
  /// - Parameters:
  ///   - descriptor: Open for as long as the closure lives.
  ///   - change: Takes in what has happened, so that the descriptor is quiet again, and tells whether that makes a
  ///     difference.
  package init(descriptor: Int32, change: @escaping @Sendable () -> Bool) {
    self.descriptor = descriptor
    self.change = change
  }

  /// Whether a look is worth it; the descriptor is quiet until the next time.
  func takeChange() -> Bool { change() }
}

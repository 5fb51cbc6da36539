import Synchronization

/// The right to hear of the network until it is cancelled.
package final class NetworkObservation: Sendable {
  /// What ends it; nil before it begins, and once it is over.
  private let leave = Mutex<(@Sendable () -> Void)?>(nil)

  init() {}

  /// Nothing is told any more, but for a call that is under way; a second time does nothing.
  package func cancel() {
    let leave = leave.withLock { $0.take() }
    leave?()
  }

  func begin(_ leave: @escaping @Sendable () -> Void) {
    self.leave.withLock { $0 = leave }
  }
}

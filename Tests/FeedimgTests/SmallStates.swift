import Feedimg
import Synchronization

/// True the first time, and never again.
final class BrokenOnce: Sendable {
  private let isFirst = Mutex(true)

  func next() -> Bool {
    isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
  }
}

/// The lowest progress that was reported of a transfer.
final class LeastProgress: Sendable {
  private let least = Mutex(Int.max)

  var value: Int { least.withLock { $0 } }

  func note(_ progress: LoadProgress) {
    least.withLock { $0 = min($0, progress.received.bytes) }
  }
}

import Synchronization

/// The failures of several threads, and whether the thread that they follow has finished.
final class Failures: Sendable {
  private let state = Mutex((all: [String](), isFinished: false))

  var all: [String] { state.withLock { $0.all } }
  var isFinished: Bool { state.withLock { $0.isFinished } }

  func add(_ failure: String) { state.withLock { $0.all.append(failure) } }
  func finish() { state.withLock { $0.isFinished = true } }
}

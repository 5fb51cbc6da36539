import FeedimgSystem
import Synchronization

@testable import Feedimg
@testable import FeedimgPipeline

/// A monotonic clock that a test advances.
final class ManualTime: Sendable {
  private struct Sleeper {
    let until: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Duration.zero
    var issued = 0
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  var time: MonotonicTime {
    MonotonicTime(now: { self.state.withLock { $0.now } }, sleep: { try await self.sleep($0) })
  }

  /// The number of sleepers.
  var sleepers: Int { state.withLock { $0.sleepers.count } }

  func pass(_ duration: Duration) {
    let woken = state.withLock { state in
      state.now += duration
      let woken = state.sleepers.filter { $0.value.until <= state.now }
      for number in woken.keys { state.sleepers[number] = nil }
      return woken.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Advances the clock to the next deadline, if there is one.
  func passToNext() {
    let wait = state.withLock { state in state.sleepers.values.map(\.until).min().map { $0 - state.now } }
    if let wait { pass(max(.zero, wait)) }
  }

  /// Advances the clock once this many sleepers wait.
  func pass(_ duration: Duration, when count: Int) async {
    while sleepers < count { await Task.yield() }
    pass(duration)
  }

  private func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          state.sleepers[number] = Sleeper(until: state.now + duration, continuation: continuation)
          return false
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.cancelled.insert(number) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

import FeedimgModel
import Synchronization

/// Lets as many decode at once as the decoder does, as ``DecodingLine`` decides.
///
/// Without it a picture that comes into view would wait behind all that are still out of sight.
final class DecodingGate: Sendable {
  private struct State {
    var line: DecodingLine
    var continuations: [DecodingLine.Ticket: CheckedContinuation<Bool, Never>] = [:]
    /// Called off before they waited.
    var cancelled: Set<DecodingLine.Ticket> = []
  }

  private let time: MonotonicTime
  /// Guards the line; continuations are resumed outside.
  private let state: Mutex<State>

  init(width: Int, _ time: MonotonicTime) {
    self.time = time
    state = Mutex(State(line: DecodingLine(width: width)))
  }

  /// How many wait for their turn.
  var count: Int { state.withLock { $0.line.count } }

  /// Decodes when it is the turn of a run, whose priority may change until then.
  ///
  /// - Returns: Nil where the task was cancelled before its turn; then nothing was decoded.
  func turn<Answer: Sendable>(of run: InFlightLoad, _ body: () async -> Answer) async -> Answer? {
    let now = time.now()
    let ticket = state.withLock { $0.line.enter(run.priority, at: now) }
    run.onPriority { [weak run] in if let run { self.reprioritise(ticket, run) } }
    // It may have changed before anybody listened.
    reprioritise(ticket, run)
    defer {
      run.onPriority(nil)
      leave(ticket)
    }
    guard await place(ticket) else { return nil }
    return await body()
  }

  private func reprioritise(_ ticket: DecodingLine.Ticket, _ run: InFlightLoad) {
    let now = time.now()
    state.withLock { $0.line.setPriority(ticket, run.priority, at: now) }
  }

  private func place(_ ticket: DecodingLine.Ticket) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.cancelled.contains(ticket) { return false }
          if state.line.isRunning(ticket) { return true }
          state.continuations[ticket] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.cancelled.insert(ticket)
        return state.continuations.removeValue(forKey: ticket)
      }
      continuation?.resume(returning: false)
    }
  }

  private func leave(_ ticket: DecodingLine.Ticket) {
    let now = time.now()
    let next = state.withLock { state in
      state.cancelled.remove(ticket)
      return state.line.leave(ticket, at: now).flatMap { state.continuations.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
  }
}

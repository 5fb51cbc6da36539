import FeedimgModel
import FeedimgPipeline
import Synchronization

/// Shows the state of a slot to all who watch it; each sees the latest, and may miss what came before.
///
/// A watcher takes the state only when it is about to see it, so that nothing waits in between that could be of an
/// earlier binding.
final class SlotScreen: Sendable {
  private struct State {
    var slot = SlotState()
    var watchers: [Int: CheckedContinuation<Void, Never>] = [:]
    var cancelled: Set<Int> = []
    var issued = 0
    var isClosed = false
  }

  /// Guards what is shown and who watches; watchers are woken outside.
  private let state = Mutex(State())

  var latest: Presentation? { state.withLock { $0.slot.latest } }

  func bind(_ first: Presentation) -> SlotState.Binding {
    change { $0.slot.bind(first) }
  }

  /// See ``SlotState/bindAgain(_:_:)``.
  func bindAgain(_ binding: SlotState.Binding, _ first: Presentation) -> Bool {
    change { $0.slot.bindAgain(binding, first) }
  }

  /// What pixels are wanted now; nil for none, and where the binding does not count any more.
  func request(_ binding: SlotState.Binding) -> DecodeRequest? {
    state.withLock { $0.slot.binding == binding ? $0.slot.latest?.request : nil }
  }

  func clear() { change { $0.slot.clear() } }

  /// See ``SlotState/renew(_:)``.
  func renew(_ binding: SlotState.Binding) -> SlotState.Binding? { change { $0.slot.renew(binding) } }

  /// See ``SlotState/update(_:_:)``; the change is made under the lock, and must do no more than that.
  func update(_ binding: SlotState.Binding, _ change: (inout Presentation) -> Void) {
    self.change { $0.slot.update(binding, change) }
  }

  /// Whether nothing was bound since; of nil, whether nothing is bound.
  func isCurrent(_ binding: SlotState.Binding?) -> Bool {
    state.withLock { state in
      guard let binding, let current = state.slot.binding else { return binding == state.slot.binding }
      return current.isSameCall(as: binding)
    }
  }

  /// Ends the sequences of all who watch.
  func close() { change { $0.isClosed = true } }

  /// Waits for something newer than a version.
  ///
  /// - Returns: The latest with its version; nil when the slot is gone or the task cancelled.
  func next(
    after version: Int,
    isolation: isolated (any Actor)? = #isolation
  ) async -> (presentation: Presentation, version: Int)? {
    while !Task.isCancelled {
      let (news, isClosed, number) = state.withLock { state in
        state.issued += 1
        let news = state.slot.version > version ? state.slot.latest.map { ($0, state.slot.version) } : nil
        return (news, state.isClosed, state.issued)
      }
      if let news { return news }
      guard !isClosed else { return nil }
      await wait(number, after: version)
    }
    return nil
  }

  private func wait(_ number: Int, after version: Int, isolation: isolated (any Actor)? = #isolation) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let hasNews = state.slot.version > version && state.slot.latest != nil
          if hasNews || state.isClosed || state.cancelled.remove(number) != nil { return true }
          state.watchers[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let watcher = state.withLock { state in
        let watcher = state.watchers.removeValue(forKey: number)
        if watcher == nil { state.cancelled.insert(number) }
        return watcher
      }
      watcher?.resume()
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  private func change<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    let (answer, watchers) = state.withLock { state in
      let before = state.slot.version
      let answer = body(&state)
      guard state.slot.version != before || state.isClosed else {
        return (answer, [] as [CheckedContinuation<Void, Never>])
      }
      defer { state.watchers = [:] }
      return (answer, Array(state.watchers.values))
    }
    for watcher in watchers { watcher.resume() }
    return answer
  }
}

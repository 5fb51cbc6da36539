import FeedimgModel
import FeedimgPipeline
import Synchronization

/// Publishes the state of a slot to all its watchers; each sees the latest and may miss earlier ones.
///
/// A watcher reads the state only when it is about to use it. So a state of an earlier binding never waits in
/// a queue.
final class SlotPublisher: Sendable {
  private struct State {
    var slot = SlotState()
    var watchers: [Int: CheckedContinuation<Void, Never>] = [:]
    var cancelled: Set<Int> = []
    var issued = 0
    var isClosed = false
  }

  /// Guards the state and the watchers; watchers are resumed outside the lock.
  private let state = Mutex(State())

  var latest: Presentation? { state.withLock { $0.slot.latest } }

  func bind(_ first: Presentation) -> SlotState.Binding {
    change { $0.slot.bind(first) }
  }

  /// See ``SlotState/bindAgain(_:_:)``.
  func bindAgain(_ binding: SlotState.Binding, _ first: Presentation) -> Bool {
    change { $0.slot.bindAgain(binding, first) }
  }

  /// Returns the requested pixels; nil for none, and if the binding is outdated.
  func request(_ binding: SlotState.Binding) -> DecodeRequest? {
    state.withLock { $0.slot.binding == binding ? $0.slot.latest?.request : nil }
  }

  func clear() { change { $0.slot.clear() } }

  /// See ``SlotState/renew(_:)``.
  func renew(_ binding: SlotState.Binding) -> SlotState.Binding? { change { $0.slot.renew(binding) } }

  /// See ``SlotState/update(_:_:)``; the change runs under the lock and must do nothing else.
  func update(_ binding: SlotState.Binding, _ change: (inout Presentation) -> Void) {
    self.change { $0.slot.update(binding, change) }
  }

  /// Returns whether the binding is still the latest; for nil, whether nothing is bound.
  func isCurrent(_ binding: SlotState.Binding?) -> Bool {
    state.withLock { state in
      guard let binding, let current = state.slot.binding else { return binding == state.slot.binding }
      return current.isSameCall(as: binding)
    }
  }

  /// Ends the sequences of all watchers.
  func close() { change { $0.isClosed = true } }

  /// Waits for a presentation newer than a version.
  ///
  /// - Parameters:
  ///   - version: The version that the watcher saw last.
  ///   - isolation: The actor of the caller.
  /// - Returns: The latest presentation and its version; nil if the slot is gone or the task cancelled.
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

  private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let (value, watchers) = state.withLock { state in
      let before = state.slot.version
      let value = body(&state)
      guard state.slot.version != before || state.isClosed else {
        return (value, [] as [CheckedContinuation<Void, Never>])
      }
      defer { state.watchers = [:] }
      return (value, Array(state.watchers.values))
    }
    for watcher in watchers { watcher.resume() }
    return value
  }
}

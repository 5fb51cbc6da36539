import FeedimgModel
import Synchronization

/// Tells whoever wants to know when the settings change.
///
/// One thread waits for all of them, from the first that comes to the last that leaves.
final class SettingsMonitor: Sendable {
  private typealias Continuation = AsyncStream<UserSettings>.Continuation

  private struct State {
    var audience = SettingsAudience()
    var continuations: [Int: Continuation] = [:]
    /// The thread at work; nil also while the first of the audience makes one.
    var waiter: SettingsWaiter?
  }

  private let file: SettingsFile
  /// Who listens, and who waits for them.
  private let state = Mutex(State())

  init(file: SettingsFile) { self.file = file }

  /// Whether the thread is at work.
  var isWaiting: Bool { state.withLock { $0.waiter != nil } }

  func changes() -> AsyncStream<UserSettings> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UserSettings.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let (number, step, waiter) = state.withLock { state in
      let (number, step) = state.audience.join()
      state.continuations[number] = continuation
      return (number, step, state.waiter)
    }
    continuation.onTermination = { _ in self.leave(number) }
    if step == .start { startWaiting() } else { waiter?.wake() }
    return stream
  }

  private func leave(_ number: Int) {
    let waiter = state.withLock { state in
      state.continuations[number] = nil
      guard state.audience.leave(number) == .stop else { return nil as SettingsWaiter? }
      return state.waiter.take()
    }
    waiter?.stop()
  }

  private func startWaiting() {
    let made = SettingsWaiter(path: FilePath(file.path)) { [file] in self.tell(file.read().settings, from: $0)
    }
    let isWanted = state.withLock { state in
      // The audience may have left meanwhile, or left and come back and found another waiter.
      guard state.waiter == nil, !state.audience.isEmpty else { return false }
      state.waiter = made
      return true
    }
    guard isWanted else { return }
    if made?.start() != true { endAll() }
  }

  private func tell(_ settings: UserSettings, from waiter: SettingsWaiter) {
    let continuations = state.withLock { state in
      guard state.waiter === waiter else { return [] as [Continuation] }
      return state.audience.tell(settings).compactMap { state.continuations[$0] }
    }
    for continuation in continuations { continuation.yield(settings) }
  }

  /// Without descriptors or threads there is nothing to tell but the present state.
  private func endAll() {
    let continuations = state.withLock { Array($0.continuations.values) }
    let settings = file.read().settings
    for continuation in continuations {
      continuation.yield(settings)
      continuation.finish()
    }
  }
}

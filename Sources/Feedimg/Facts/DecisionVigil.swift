import FeedimgModel
import Synchronization

/// Watches over a load while the decision holds that it follows.
///
/// A load that is no longer decided, such as that of an original when the network has become dearer, is left; others
/// who still want it keep it running.
struct DecisionVigil: Sendable {
  let operation: LoadOperation
  /// What the load is to show in the end.
  let decided: ShownImage

  private var loader: ImageLoader { operation.loader }

  /// Does some work unless something else is decided meanwhile.
  ///
  /// - Parameter work: Its task is cancelled then.
  /// - Returns: What it came to; nil when something else was decided.
  /// - Throws: What the work throws.
  func whileItHolds<Answer: Sendable>(
    _ work: @escaping @Sendable () async throws(LoadError) -> Answer
  ) async throws(LoadError) -> Answer? {
    let isOver = Flag()
    let task = Task(executorPreference: loader.disk) { () async -> Result<Answer, LoadError> in
      do throws(LoadError) {
        return .success(try await work())
      } catch {
        return .failure(error)
      }
    }
    let reconsider: @Sendable () -> Void = {
      Task(executorPreference: loader.disk) {
        guard !holds() else { return }
        isOver.raise()
        task.cancel()
      }
    }
    let number = loader.facts.listen(priority: { operation.wish.priority }, reconsider)
    defer { loader.facts.leave(number) }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    if case .failure(let error) = result, error.code == .cancelled, isOver.isRaised, !Task.isCancelled {
      return nil
    }
    return try result.get()
  }

  /// Whether the same image would still be chosen, be it from the cache by now.
  ///
  /// What the network says counts here, not whether anything gets through: this load may be what finds out.
  private func holds() -> Bool {
    operation.resolution(trustingNetwork: true).decision.image == decided
  }
}

/// Something that happened, or has not yet.
private final class Flag: Sendable {
  private let value = Atomic(false)
  var isRaised: Bool { value.load(ordering: .acquiring) }
  func raise() { value.store(true, ordering: .releasing) }
}

import FeedimgModel
import FeedimgSystem

extension Promise {
  /// Starts a task that resolves a promise, and waits for the value.
  ///
  /// Cancelling the calling task cancels the started task.
  ///
  /// - Parameter work: Resolves the promise before it ends.
  /// - Returns: The value, and a closure that cancels the work.
  static func of<Success>(
    _ work: @escaping @Sendable (Promise) async -> Void
  ) async -> (first: Value, leave: @Sendable () -> Void) where Value == Result<Success, LoadError> {
    let promise = Promise()
    let task = PipelineActor.task { await work(promise) }
    let first = await withTaskCancellationHandler {
      await promise.value()
    } onCancel: {
      task.cancel()
    }
    return (
      first ?? .failure(LoadError(.cancelled, message: "the load was cancelled")), { task.cancel() }
    )
  }
}

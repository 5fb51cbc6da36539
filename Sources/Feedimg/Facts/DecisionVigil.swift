import FeedimgModel
import Synchronization

/// Watches over work while the decision holds that it follows.
///
/// What is no longer decided, such as the load of an original when the network has become dearer, is left; others who
/// still want it keep it running.
struct DecisionVigil: Sendable {
  let loader: ImageLoader
  /// How urgent the work is by now.
  let priority: @Sendable () -> LoadPriority
  /// Whether the same would still be decided.
  let holds: @Sendable () -> Bool
  /// The ``FactWatch/standing`` before the decision.
  let standing: Int?
  /// Whose asking for the original may be another decision; nil where that does not matter.
  var wish: LoadWish?

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
      Task(executorPreference: loader.disk) { [holds] in
        guard !holds() else { return }
        isOver.raise()
        task.cancel()
      }
    }
    let number = loader.facts.listen(priority: priority, reconsider)
    defer { loader.facts.leave(number) }
    let ear = wish?.listen { [weak wish] in if wish?.asksForOriginal == true { reconsider() } }
    defer { if let ear { wish?.forget(ear) } }
    // What changed since the decision was told to others, or to nobody.
    let isAsked = wish?.asksForOriginal == true
    if isAsked || standing == nil || loader.facts.standing != standing { reconsider() }
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
}

extension DecisionVigil {
  /// Over a load: whether the same image would still be chosen, be it from the cache by now.
  ///
  /// What the network says counts here, not whether anything gets through: this load may be what finds out. Who reads
  /// the image already is not called off for a better one.
  init(over operation: LoadOperation, decided: ShownImage) {
    self.init(
      loader: operation.loader,
      priority: { operation.wish.priority },
      holds: {
        let image = operation.resolution(trustingNetwork: true).decision.image
        return image == decided || image > decided && operation.isHandedOn()
      },
      standing: operation.standing,
      wish: operation.wish
    )
  }

  /// Over a thumbnail in place of an original that failed: whether it would still be chosen, and may be fetched, if there
  /// were no original.
  init(overStandIn operation: LoadOperation) {
    self.init(
      loader: operation.loader,
      priority: { operation.wish.priority },
      holds: {
        let instead = operation.withoutOriginal(trustingNetwork: true)
        guard instead.decision.image == .thumbnail else { return false }
        return instead.decision.load == nil || operation.allowsStandIn(instead)
      },
      standing: operation.standing,
      wish: operation.wish
    )
  }

  /// Over the question whether a cached image is out of date: whether the policy would still fetch it.
  init(over operation: LoadOperation, asking role: ImageVariant.Role) {
    self.init(
      loader: operation.loader,
      priority: { .prefetch },
      holds: { operation.loader.mayFetch(role, in: operation.resolution(trustingNetwork: true).situation) },
      standing: operation.standing
    )
  }
}

/// Something that happened, or has not yet.
private final class Flag: Sendable {
  private let value = Atomic(false)
  var isRaised: Bool { value.load(ordering: .acquiring) }
  func raise() { value.store(true, ordering: .releasing) }
}

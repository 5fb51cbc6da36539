import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// Applies the prefetch rule to an item, and ends items by it.
extension PrefetchWorker {
  func verdict(_ index: Int) -> PrefetchRule.Verdict { verdict(loader.decide(items[index])) }

  func verdict(_ decided: DecisionContext.Decided) -> PrefetchRule.Verdict {
    verdict(decided.decision, in: decided.situation, by: decided.context.policy)
  }

  func verdict(
    _ decision: Decision,
    in situation: Situation,
    by policy: CompiledPolicy
  ) -> PrefetchRule.Verdict {
    PrefetchRule.verdict(
      decision,
      in: situation,
      setsPriority: policy.table.setsPriority,
      waits: waits
    )
  }

  /// Returns the result for a fetched image, which the cache may have been unable or forbidden to keep.
  static func result(of image: LoadedImage, _ received: ByteCount) -> Prefetch.Outcome.Result {
    // While a service still forwards the body, it is unknown whether the image is kept.
    guard image.path == nil, let reason = image.notes.last else { return .fetched(image.variant, received) }
    return .unkept(image.variant, received, reason)
  }

  /// Ends an item that failed, or lets it wait if the network or its server does not respond.
  @PipelineActor func endFailed(_ index: Int, _ error: LoadError) {
    guard waits, NetworkLiveness.counts(error) else { return end(index, .failed(error)) }
    if verdict(index) == .skip(.offline) { return end(index, .skipped(.offline)) }
    guard error.isSilence, error.hasOpenCircuit else { return end(index, .failed(error)) }
    end(index, .skipped(.offline))
    // Wait after the item was added, because the server may already respond again.
    calls.wait(after: error) { [weak self] in self?.reconsider() }
  }

  /// Ends an item that was cached.
  ///
  /// If the network became worse during the load, the cached thumbnail may not be the wanted image.
  @PipelineActor func endCached(_ index: Int, _ image: LoadedImage) {
    guard waits, image.variant.role == .thumbnail, image.failure == nil, items[index].original != nil else {
      return end(index, .skipped(.cached))
    }
    switch verdict(index) {
    case .skip(let reason): end(index, .skipped(reason))
    // The network has improved since; that change makes the waiting items decide again.
    case .load(.original): end(index, .skipped(.offline))
    // Another load has fetched the image, and it could not be kept.
    case .load(.thumbnail): end(index, .skipped(.cached))
    }
  }
}

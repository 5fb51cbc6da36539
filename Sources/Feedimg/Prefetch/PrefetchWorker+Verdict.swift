import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// What the rule says of an item now.
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
      speaksOfPriority: policy.table.speaksOfPriority,
      waits: waits
    )
  }

  /// What came of an image that the network brought; the cache may have had no room for it, or no right to it.
  static func result(of image: LoadedImage, _ received: ByteCount) -> Prefetch.Outcome.Result {
    // Of what a service hands on while it comes, nothing is known yet.
    guard image.path == nil, let reason = image.notes.last else { return .fetched(image.variant, received) }
    return .unkept(image.variant, received, reason)
  }

  /// Ends what failed; where nothing gets through any more, or nothing comes from its server, it waits with all others if
  /// they do.
  @PipelineActor func endFailed(_ index: Int, _ error: LoadError) {
    guard waits, NetworkLiveness.counts(error) else { return end(index, .failed(error)) }
    if verdict(index) == .skip(.offline) { return end(index, .skipped(.offline)) }
    guard error.isSilence, error.hasOpenCircuit else { return end(index, .failed(error)) }
    end(index, .skipped(.offline))
    // After that, as it may be there again by now.
    calls.wait(after: error) { [weak self] in self?.reconsider() }
  }

  /// Ends what was in the cache; the thumbnail may be all that there was, as the network has become worse on the way.
  @PipelineActor func endCached(_ index: Int, _ image: LoadedImage) {
    guard waits, image.variant.role == .thumbnail, image.failure == nil, items[index].original != nil else {
      return end(index, .skipped(.cached))
    }
    switch verdict(index) {
    case .skip(let reason): end(index, .skipped(reason))
    // It has become better since, which was told: those that wait are looked at anew.
    case .load(.original): end(index, .skipped(.offline))
    // Somebody else has it, and it could not be kept.
    case .load(.thumbnail): end(index, .skipped(.cached))
    }
  }
}

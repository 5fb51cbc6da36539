import Feedimg

/// Prints the results of a prefetch: one JSON object per item, or one sentence at the end.
struct PrefetchReport {
  let isJSON: Bool
  private(set) var status = ExitStatus.success

  mutating func add(_ outcome: Prefetch.Outcome, item: FeedItem) {
    if isJSON { Output.line(outcome.json(of: item)) }
    let message: String
    switch outcome.result {
    case .fetched, .skipped: return
    case .unkept(let variant, _, let reason): message = "`\(variant.url)`: \(reason)"
    case .failed(let error): (message, status) = (error.description, .failure)
    }
    Output.report(message)
  }

  func end(_ progress: PrefetchProgress) {
    Output.line(isJSON ? progress.json : Self.sentence(progress))
  }

  private static func sentence(_ progress: PrefetchProgress) -> String {
    var parts = ["\(progress.fetched) fetched (\(progress.received.rounded))"]
    if progress.unkept > 0 { parts.append("\(progress.unkept) not stored") }
    if progress.cached > 0 { parts.append("\(progress.cached) already cached") }
    for reason in Prefetch.Reason.allCases {
      if let count = progress.skipped[reason] { parts.append("\(count) skipped: \(reason.text)") }
    }
    if progress.failed > 0 { parts.append("\(progress.failed) failed") }
    return "\(progress.count) \(progress.count == 1 ? "item" : "items"): " + parts.joined(separator: "; ")
  }
}

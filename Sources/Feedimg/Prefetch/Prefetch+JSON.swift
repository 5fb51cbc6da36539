import FeedimgJSON
public import FeedimgModel
import FeedimgPipeline

extension Prefetch.Outcome {
  /// Returns the outcome of an item as one line of JSON.
  ///
  /// - Parameter item: The item at ``index``.
  /// - Returns: An object with `item`, `id`, `outcome` (`fetched`, `unkept`, `skipped` or `failed`) and the
  ///   members of that outcome.
  public func json(of item: FeedItem) -> String {
    var object = JSONObject([("item", .integer(index + 1)), ("id", .optional(item.id))])
    switch result {
    case .fetched(let variant, let bytes), .unkept(let variant, let bytes, _):
      object["outcome"] = "fetched"
      object["variant"] = .string(variant.role.rawValue)
      object["url"] = .string(variant.url.description)
      object["bytes"] = .integer(bytes.bytes)
      if case .unkept(_, _, let reason) = result {
        object["outcome"] = "unkept"
        object["reason"] = .string(reason)
      }
    case .skipped(let reason):
      object["outcome"] = "skipped"
      object["reason"] = .string(reason.rawValue)
    case .failed(let error):
      object["outcome"] = "failed"
      object["url"] = .optional(error.url?.description)
      object["reason"] = .string(error.message)
    }
    return JSONValue.object(object).text(.compact)
  }
}

extension PrefetchProgress {
  /// The progress as one line of JSON.
  public var json: String {
    let reasons = JSONObject(
      Prefetch.Reason.allCases.compactMap { reason in
        skipped[reason].map { (reason.rawValue, JSONValue.integer($0)) }
      }
    )
    let value: JSONValue = [
      "items": .integer(count), "fetched": .integer(fetched), "unkept": .integer(unkept),
      "cached": .integer(cached),
      "skipped": .object(reasons), "failed": .integer(failed), "bytes": .integer(received.bytes),
      "milliseconds": .integer(Int(clamping: Int64((elapsed / .milliseconds(1)).rounded()))),
    ]
    return value.text(.compact)
  }
}

extension Prefetch.Reason {
  /// The reason in words that follow a count.
  public var text: String {
    switch self {
    case .cached: "cached already"
    case .offline: "there is no network"
    case .policy: "the policy would load nothing"
    case .dataCosts: "data costs, may cost, or is to be saved"
    case .tooLarge: "larger than the limit for one image"
    case .memory: "memory is short"
    case .spent: "over the limit for all"
    }
  }
}

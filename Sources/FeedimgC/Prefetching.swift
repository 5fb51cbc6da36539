// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline

extension LoaderHandle {
  /// Starts a prefetch.
  fileprivate func prefetch(
    _ items: [FeedItem],
    _ options: feedimg_prefetch_options,
    _ callback: Callback<feedimg_prefetch_callback>?
  ) -> Operation {
    var limits = Prefetch.Limits()
    if options.total_bytes > 0 { limits.total = ByteCount(Int(clamping: options.total_bytes)) }
    if options.image_bytes > 0 { limits.perImage = ByteCount(Int(clamping: options.image_bytes)) }
    let prefetch = loader.prefetch(items, limits: limits, waitsForNetwork: options.waits_for_network != 0)
    let owner = callbacks.register()
    if let callback {
      PipelineActor.task { [callbacks, outcomes = prefetch.outcomes, count = items.count] in
        for await outcome in outcomes {
          callbacks.post(owner) { callback.receive(outcome, of: count) }
        }
        callbacks.post(owner, isLast: true) { callback.function(nil, callback.payload) }
      }
    }
    return Operation(callbacks, owner) { prefetch.stop() }
  }
}

extension Callback<feedimg_prefetch_callback> {
  fileprivate func receive(_ outcome: Prefetch.Outcome, of count: Int) {
    let (result, received, reason): (feedimg_prefetch_result, ByteCount, String?) =
      switch outcome.result {
      case .fetched(_, let received): (FEEDIMG_PREFETCH_FETCHED, received, nil)
      case .unkept(_, let received, let reason): (FEEDIMG_PREFETCH_UNKEPT, received, reason)
      case .skipped(let reason): (FEEDIMG_PREFETCH_SKIPPED, ByteCount(0), reason.rawValue)
      case .failed(let error): (FEEDIMG_PREFETCH_FAILED, ByteCount(0), error.description)
      }
    let text = CText(reason)
    var value = feedimg_prefetch_outcome(
      size: MemoryLayout<feedimg_prefetch_outcome>.stride,
      index: outcome.index,
      result: result,
      received: UInt64(received.bytes),
      reason: text.pointer,
      done: outcome.progress.done,
      count: count
    )
    withExtendedLifetime(text) { function(&value, payload) }
  }
}

@c @implementation
public func feedimg_loader_prefetch(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ loader: OpaquePointer?,
  _ items: UnsafePointer<OpaquePointer?>?,
  _ item_count: Int,
  _ options: UnsafePointer<feedimg_prefetch_options>?,
  _ callback: feedimg_prefetch_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    var list: [FeedItem] = []
    for item in try elements(items, item_count, "items") {
      list.append(try given(item, "items", as: ItemHandle.self).item)
    }
    let options = try read(options, "options") ?? feedimg_prefetch_options()
    out.pointee = handle(loader.prefetch(list, options, Callback(callback, payload)))
  }
}

@c @implementation
public func feedimg_prefetch_free(_ prefetch: OpaquePointer?) {
  release(prefetch, as: Operation.self)?.end()
}

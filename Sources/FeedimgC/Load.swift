// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline
import FeedimgSystem
import Synchronization

extension LoaderHandle {
  /// Starts a load.
  fileprivate func load(
    _ item: FeedItem,
    _ options: LoadOptions,
    _ callback: Callback<feedimg_load_callback>
  ) -> Operation {
    let owner = callbacks.register()
    let progress = Callback(options.progress, callback.payload).map { listener(owner, $0) }
    let task = PipelineActor.task { [loader, callbacks] in
      let result = await Result.of { () throws(LoadError) in
        try await loader.load(
          item,
          pixels: options.pixels,
          facts: options.facts,
          priority: options.priority,
          cache: options.cache,
          policy: options.policy,
          progress: progress
        )
      }
      callbacks.post(owner, isLast: true) {
        switch result {
        case .success(let image): callback.function(nil, handle(ImageHandle(image)), callback.payload)
        case .failure(let error):
          let record = ErrorRecord(CallError(error))
          withExtendedLifetime(record) { callback.function(record.pointer, nil, callback.payload) }
        }
      }
    }
    return Operation(callbacks, owner) { task.cancel() }
  }

  /// Posts progress; a callback that waits delivers the latest value when it runs.
  private func listener(
    _ owner: CallbackQueue.Owner,
    _ callback: Callback<feedimg_progress_callback>
  ) -> @Sendable (LoadProgress) -> Void {
    let latest = Mutex(LoadProgress(received: ByteCount(0), total: nil))
    return { [callbacks] progress in
      latest.withLock { $0 = progress }
      callbacks.post(owner, isSignal: true) {
        let progress = latest.withLock { $0 }
        callback.function(
          UInt64(clamping: progress.received.bytes),
          UInt64(clamping: progress.total?.bytes ?? 0),
          callback.payload
        )
      }
    }
  }
}

@c @implementation
public func feedimg_loader_load(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ loader: OpaquePointer?,
  _ item: OpaquePointer?,
  _ options: UnsafePointer<feedimg_load_options>?,
  _ callback: feedimg_load_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(CallError) in
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    let item = try given(item, "item", as: ItemHandle.self).item
    let callback = try given(Callback(callback, payload), "callback")
    let load = loader.load(item, try LoadOptions(options), callback)
    out?.pointee = handle(load)
  }
}

@c @implementation
public func feedimg_load_cancel(_ load: OpaquePointer?) { object(load, as: Operation.self)?.end() }

@c @implementation
public func feedimg_load_free(_ load: OpaquePointer?) { release(load, as: Operation.self)?.end() }

@c @implementation
public func feedimg_loader_cancel_loads(_ loader: OpaquePointer?) {
  object(loader, as: LoaderHandle.self)?.loader.cancelLoads()
}

// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgPipeline

@c @implementation
public func feedimg_loader_trim_memory(_ loader: OpaquePointer?, _ step: feedimg_memory) {
  guard let step = MemoryStep(rawValue: Int(step.rawValue)) else { return }
  object(loader, as: LoaderHandle.self)?.loader.trimMemory(step)
}

@c @implementation
public func feedimg_loader_clear_memory(_ loader: OpaquePointer?) {
  object(loader, as: LoaderHandle.self)?.loader.clearMemory()
}

@c @implementation
public func feedimg_loader_clear_cache(
  _ loader: OpaquePointer?,
  _ callback: feedimg_done_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(Failure) in
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    let callbacks = loader.callbacks
    let (owner, callback) = (callbacks.register(), Callback(callback, payload))
    PipelineActor.task { [loader = loader.loader] in
      var failure: Failure?
      do throws(ConfigurationError) {
        try await loader.clearCache()
      } catch {
        failure = Failure(error)
      }
      callbacks.postEnd(owner, failure, callback)
    }
  }
}

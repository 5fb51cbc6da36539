// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline

@c @implementation
public func feedimg_loader_store(
  _ loader: OpaquePointer?,
  _ url: UnsafePointer<CChar>?,
  _ bytes: UnsafeRawPointer?,
  _ length: Int,
  _ role: feedimg_role,
  _ cache: feedimg_cache,
  _ callback: feedimg_done_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(CallError) in
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    let (url, cache) = (try imageURL(url), try CachePolicy(cache))
    let role = try ImageVariant.Role(role)
    guard length >= 0 else { throw CallError(FEEDIMG_ERROR_ARGUMENT, "`length` is too large") }
    let content = [UInt8](UnsafeRawBufferPointer(start: try given(bytes, "bytes"), count: length))
    let callbacks = loader.callbacks
    let (owner, callback) = (callbacks.register(), Callback(callback, payload))
    PipelineActor.task { [loader = loader.loader] in
      var failure: CallError?
      do throws(LoadError) {
        try await loader.store(content, for: url, as: role, cache: cache)
      } catch {
        failure = CallError(error)
      }
      callbacks.postEnd(owner, failure, callback)
    }
  }
}

@c @implementation
public func feedimg_loader_cached(
  _ loader: OpaquePointer?,
  _ url: UnsafePointer<CChar>?,
  _ cache: feedimg_cache,
  _ callback: feedimg_cached_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(CallError) in
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    let (url, cache) = (try imageURL(url), try CachePolicy(cache))
    let callback = try given(Callback(callback, payload), "callback")
    let callbacks = loader.callbacks
    let owner = callbacks.register()
    PipelineActor.task { [loader = loader.loader] in
      let image = await loader.cached(url, cache: cache)
      callbacks.post(owner, isLast: true) {
        guard let image else { return callback.function(nil, callback.payload) }
        let (mediaType, path) = (CText(image.mediaType), CText(image.path))
        image.bytes.withUnsafeBytes { bytes in
          var record = feedimg_cached_image(
            size: MemoryLayout<feedimg_cached_image>.stride,
            bytes: bytes.baseAddress,
            length: bytes.count,
            media_type: mediaType.pointer,
            source: image.source == .memory ? FEEDIMG_SOURCE_MEMORY : FEEDIMG_SOURCE_DISK,
            path: path.pointer,
            is_fresh: image.freshness?.isFresh ?? false ? 1 : 0
          )
          withExtendedLifetime((mediaType, path)) { callback.function(&record, callback.payload) }
        }
      }
    }
  }
}

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
  attempt { () throws(CallError) in
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    let callbacks = loader.callbacks
    let (owner, callback) = (callbacks.register(), Callback(callback, payload))
    PipelineActor.task { [loader = loader.loader] in
      var failure: CallError?
      do throws(ConfigurationError) {
        try await loader.clearCache()
      } catch {
        failure = CallError(error)
      }
      callbacks.postEnd(owner, failure, callback)
    }
  }
}

extension CallbackQueue {
  /// Posts the last callback of an operation that has no other result.
  func postEnd(_ owner: Owner, _ failure: CallError?, _ callback: Callback<feedimg_done_callback>?) {
    post(owner, isLast: true) {
      guard let callback else { return }
      let record = failure.map(ErrorRecord.init)
      withExtendedLifetime(record) { callback.function(record?.pointer, callback.payload) }
    }
  }
}

extension ImageVariant.Role {
  fileprivate init(_ role: feedimg_role) throws(CallError) {
    switch role {
    case FEEDIMG_ORIGINAL: self = .original
    case FEEDIMG_THUMBNAIL: self = .thumbnail
    default: throw CallError(FEEDIMG_ERROR_ARGUMENT, "`role` is \(role.rawValue)")
    }
  }
}

/// Reads a URL.
private func imageURL(_ pointer: UnsafePointer<CChar>?) throws(CallError) -> ImageURL {
  let text = try given(text(pointer), "url")
  do throws(ImageURLError) {
    return try ImageURL(text)
  } catch {
    throw CallError(FEEDIMG_ERROR_ARGUMENT, "`url`: \(error)")
  }
}

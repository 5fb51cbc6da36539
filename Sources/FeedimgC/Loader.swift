// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgPipeline

/// A loader of the C interface.
final class LoaderHandle: Sendable {
  let loader: ImageLoader
  let configuration: ImageLoader.Configuration
  let parts: LoaderParts
  let callbacks: CallbackQueue

  init(_ options: Options) throws(CallError) {
    // libdispatch would end the process.
    guard ProcessEnvironment.canRunTasks() else {
      throw CallError(FEEDIMG_ERROR_UNAVAILABLE, "`/proc` is hidden from this process")
    }
    configuration = options.configuration
    (parts, loader) = try configured { () throws(ConfigurationError) in
      let parts = try LoaderParts(options.configuration)
      return (parts, try ImageLoader(options.configuration, parts: parts))
    }
    callbacks = try CallbackQueue(hasThread: options.hasThread)
  }

  var network: NetworkStatus { NetworkStatus(sharing: parts) }
  var settings: Settings { Settings(sharing: parts) }

  func close() {
    callbacks.close()
    loader.cancelLoads()
    loader.writeUsage()
  }
}

@c @implementation
public func feedimg_loader_new(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ options: UnsafePointer<feedimg_options>?
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    out.pointee = handle(try LoaderHandle(Options(options)))
  }
}

@c @implementation
public func feedimg_loader_free(_ loader: OpaquePointer?) { release(loader, as: LoaderHandle.self)?.close() }

@c @implementation
public func feedimg_loader_fd(_ out: UnsafeMutablePointer<CInt>?, _ loader: OpaquePointer?) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    guard let descriptor = try given(loader, "loader", as: LoaderHandle.self).callbacks.descriptor else {
      throw CallError(FEEDIMG_ERROR_ARGUMENT, "the loader has no FEEDIMG_DISPATCH_LOOP")
    }
    out.pointee = descriptor
  }
}

@c @implementation
public func feedimg_loader_dispatch(_ loader: OpaquePointer?) -> CInt {
  attemptCount { () throws(CallError) in
    let callbacks = try given(loader, "loader", as: LoaderHandle.self).callbacks
    guard callbacks.descriptor != nil else {
      throw CallError(FEEDIMG_ERROR_ARGUMENT, "the loader has no FEEDIMG_DISPATCH_LOOP")
    }
    return CInt(clamping: callbacks.dispatch())
  }
}

@c @implementation
public func feedimg_loader_warnings(
  _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ loader: OpaquePointer?
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    let warnings = try given(loader, "loader", as: LoaderHandle.self).loader.warnings
    out.pointee = try copy(warnings.joined(separator: "\n"))
  }
}

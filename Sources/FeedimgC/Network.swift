// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline
import Synchronization

extension feedimg_network {
  init(_ state: NetworkState) {
    self.init()
    size = MemoryLayout<feedimg_network>.stride
    kind =
      switch state.kind {
      case .offline: FEEDIMG_NETWORK_OFFLINE
      case .wifi: FEEDIMG_NETWORK_WIFI
      case .ethernet: FEEDIMG_NETWORK_ETHERNET
      case .cellular: FEEDIMG_NETWORK_CELLULAR
      case .other: FEEDIMG_NETWORK_OTHER
      }
    metered =
      switch state.metered {
      case .unknown: FEEDIMG_METERED_UNKNOWN
      case .no: FEEDIMG_METERED_NO
      case .yes: FEEDIMG_METERED_YES
      }
    (is_reachable, is_roaming) = (state.isReachable ? 1 : 0, state.isRoaming ? 1 : 0)
    (is_captive, is_tethered) = (state.isCaptive ? 1 : 0, state.isTethered ? 1 : 0)
    is_tunnelled = state.isTunnelled ? 1 : 0
  }
}

extension LoaderHandle {
  /// Reports the network now and each change.
  fileprivate func watchNetwork(_ callback: Callback<feedimg_network_callback>) throws(CallError) -> Operation
  {
    let owner = callbacks.register()
    let latest = Mutex<NetworkState?>(nil)
    let subscription = network.watch { [callbacks] state in
      latest.withLock { $0 = state }
      callbacks.post(owner, isSignal: true) {
        guard let state = latest.withLock({ $0 }) else { return }
        var network = feedimg_network(state)
        callback.function(&network, callback.payload)
      }
    }
    guard let subscription else {
      callbacks.cancel(owner)
      throw CallError(FEEDIMG_ERROR_UNAVAILABLE, "no thread is left")
    }
    return Operation(callbacks, owner) { subscription.cancel() }
  }
}

@c @implementation
public func feedimg_loader_network(
  _ out: UnsafeMutablePointer<feedimg_network>?,
  _ loader: OpaquePointer?
) -> CInt {
  attempt { () throws(CallError) in
    let state = try given(loader, "loader", as: LoaderHandle.self).network.state
    try write(feedimg_network(state), to: out, "out")
  }
}

@c @implementation
public func feedimg_loader_network_json(
  _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ loader: OpaquePointer?
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    out.pointee = try copy(try given(loader, "loader", as: LoaderHandle.self).network.state.json)
  }
}

@c @implementation
public func feedimg_loader_watch_network(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ loader: OpaquePointer?,
  _ callback: feedimg_network_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    out.pointee = handle(try loader.watchNetwork(try given(Callback(callback, payload), "callback")))
  }
}

@c @implementation
public func feedimg_watch_free(_ watch: OpaquePointer?) { release(watch, as: Operation.self)?.end() }

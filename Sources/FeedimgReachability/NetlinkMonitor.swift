package import FeedimgModel
import Synchronization

/// Watches the network over netlink, on a thread of its own while anybody listens.
package final class NetlinkMonitor: NetworkMonitoring {
  private let reader: NetlinkReader
  private let vigil = Mutex<Vigil?>(nil)

  package init(reader: NetlinkReader = NetlinkReader()) {
    self.reader = reader
  }

  package func currentState() -> NetworkState {
    reader.currentState()
  }

  /// The present state at once, then each change, as soon as it is believed.
  ///
  /// What costs more is told at once, what costs less after half a second, and being offline after some
  /// more. Where the system has no room for a thread, there is the present state and then the end.
  package func states() -> AsyncStream<NetworkState> {
    let (states, listener) = AsyncStream.makeStream(of: NetworkState.self)
    guard let next = Vigil(reader: reader) else {
      listener.yield(reader.currentState())
      listener.finish()
      return states
    }
    let vigil = admit(listener, orBegin: next)
    if vigil !== next {
      vigil.hurry()
    } else if !next.begin() {
      self.vigil.withLock { if $0 === next { $0 = nil } }
    }
    return states
  }

  /// Looks again now, as after a connection that failed though the network seemed up.
  package func lookAgain() {
    vigil.withLock { $0 }?.lookAgain()
  }

  private func admit(_ listener: Audience.Listener, orBegin next: Vigil) -> Vigil {
    vigil.withLock { vigil in
      if let vigil, vigil.admit(listener) { return vigil }
      _ = next.admit(listener)
      vigil = next
      return next
    }
  }
}

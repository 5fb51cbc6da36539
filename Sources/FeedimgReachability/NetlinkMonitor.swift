package import FeedimgModel
import Synchronization

/// Watches the network over netlink, on a thread of its own while anybody listens.
package final class NetlinkMonitor: NetworkMonitoring {
  private let reader: NetlinkReader
  private let prompt: (@Sendable () -> Prompt?)?
  private let polling: Duration
  private let vigil = Mutex<Vigil?>(nil)
  private let overruns = Overruns()

  /// Makes a monitor, which opens nothing yet.
  ///
  /// - Parameters:
  ///   - reader: What looks at the network.
  ///   - prompt: Opens what else tells that it is worth a look, which the thread does when it begins; where that
  ///     fails, the thread looks often instead.
  package convenience init(
    reader: NetlinkReader = NetlinkReader(),
    prompt: (@Sendable () -> Prompt?)? = nil
  ) {
    self.init(reader: reader, prompt: prompt, polling: Vigil.usualPolling)
  }

  init(reader: NetlinkReader, prompt: (@Sendable () -> Prompt?)? = nil, polling: Duration) {
    self.reader = reader
    self.prompt = prompt
    self.polling = polling
  }

  /// How often more events came than the system could hold; each time everything was looked at anew.
  package var overrunCount: Int { overruns.count.load(ordering: .relaxed) }

  package func currentState() -> NetworkState {
    reader.currentState()
  }

  /// Calls back with the present state, then with each change, as soon as it is believed.
  ///
  /// What costs more is told at once, what costs less after half a second, and being offline after some
  /// more. Calls come one after the other, on the thread that watches. While nothing changes it sleeps, but for one
  /// look a minute.
  ///
  /// - Parameters:
  ///   - tell: Called until the observation is cancelled, which it may do itself.
  ///   - end: Called where the system has no room for a thread, after one call of `tell`.
  /// - Returns: What ends it.
  package func observe(
    _ tell: @escaping @Sendable (NetworkState) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) -> NetworkObservation {
    let listener = Audience.Listener(tell: tell, end: end)
    let observation = NetworkObservation()
    guard
      let next = Vigil(
        reader: reader,
        prompt: prompt,
        polling: polling,
        noteOverrun: { [overruns] in overruns.count.add(1, ordering: .relaxed) }
      )
    else {
      tell(reader.currentState())
      end()
      return observation
    }
    let vigil = admit(listener, observation, orBegin: next)
    if vigil !== next {
      vigil.hurry()
    } else if !next.begin() {
      self.vigil.withLock { if $0 === next { $0 = nil } }
    }
    return observation
  }

  /// The present state at once, then each change, as ``observe(_:end:)`` tells it.
  ///
  /// Where the system has no room for a thread, there is the present state and then the end.
  package func states() -> AsyncStream<NetworkState> {
    let (states, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    let observation = observe({ continuation.yield($0) }, end: { continuation.finish() })
    continuation.onTermination = { _ in observation.cancel() }
    return states
  }

  /// Looks again now, as after a connection that failed though the network seemed up.
  package func lookAgain() {
    vigil.withLock { $0 }?.lookAgain()
  }

  private func admit(
    _ listener: Audience.Listener,
    _ observation: NetworkObservation,
    orBegin next: Vigil
  ) -> Vigil {
    vigil.withLock { vigil in
      if let vigil, let seat = vigil.admit(listener) {
        observation.begin { vigil.dismiss(seat) }
        return vigil
      }
      if let seat = next.admit(listener) { observation.begin { next.dismiss(seat) } }
      vigil = next
      return next
    }
  }
}

/// Counts overruns, also for a thread that outlives its monitor.
private final class Overruns: Sendable {
  let count = Atomic(0)
}

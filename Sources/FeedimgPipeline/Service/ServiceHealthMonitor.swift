import FeedimgModel
import FeedimgSystem
import Synchronization

/// Detects that the service hangs while requests wait for it, because these requests have long timeouts.
///
/// It checks the requests at intervals. If one has waited since the last check and no bytes arrived for any
/// of them, it asks the service whether it still responds.
final class ServiceHealthMonitor: Sendable {
  private struct State {
    /// The closures that cancel the requests, by number.
    var requests: [Int: @Sendable () -> Void] = [:]
    var issued = 0
    /// The number of the latest request at the last check.
    var seen = 0
    /// Whether bytes have arrived since the last check.
    var hasReceived = false
    var isLooking = false
    var silence: LoadError?
  }

  /// The time between two checks.
  static let interval = Duration.seconds(5)

  private let probe: ServiceProbe
  private let time: MonotonicTime
  /// Guards the requests; they are cancelled outside the lock.
  private let state = Mutex(State())

  init(_ probe: ServiceProbe, _ time: MonotonicTime) { (self.probe, self.time) = (probe, time) }

  /// The error of the failed check; nil while the service does not hang.
  var silence: LoadError? { state.withLock { $0.silence } }

  /// Starts to watch a request.
  ///
  /// - Parameter cancelRequest: Cancels the request; called if the service hangs.
  /// - Returns: The number to pass to ``end(_:)``.
  func begin(_ cancelRequest: @escaping @Sendable () -> Void) -> Int {
    let (number, isFirst) = state.withLock { state in
      defer { state.isLooking = true }
      state.issued += 1
      state.requests[state.issued] = cancelRequest
      return (state.issued, !state.isLooking)
    }
    if isFirst {
      Task { [weak self, time] in
        while (try? await time.sleep(Self.interval)) != nil {
          guard await self?.look() == true else { return }
        }
        // If no thread was available for the wait, the next request tries again.
        self?.state.withLock { $0.isLooking = false }
      }
    }
    return number
  }

  /// Ends the watch of a request that has ended.
  func end(_ number: Int) { state.withLock { $0.requests[number] = nil } }

  /// Records that bytes of a response arrived.
  func received() { state.withLock { $0.hasReceived = true } }

  /// Checks whether the service may hang, and asks it if so.
  ///
  /// - Returns: Whether there are requests.
  private func look() async -> Bool {
    let isSilent = state.withLock { state -> Bool? in
      guard !state.requests.isEmpty else {
        state.isLooking = false
        return nil
      }
      defer { (state.seen, state.hasReceived) = (state.issued, false) }
      return !state.hasReceived && state.requests.keys.contains { $0 <= state.seen }
    }
    guard let isSilent else { return false }
    // A service that refuses new connections still serves its present clients or closes their connections.
    guard isSilent, let silence = await probe.perform(), silence.code == .timeout else { return true }
    let requests = state.withLock { state in
      guard !state.hasReceived else { return [] as [@Sendable () -> Void] }
      state.silence = silence
      return Array(state.requests.values)
    }
    for cancelRequest in requests { cancelRequest() }
    return true
  }
}

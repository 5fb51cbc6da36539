import FeedimgModel
import FeedimgSystem
import Synchronization

/// Notices that the service hangs while requests wait for it, as they leave it all the time that an image may take.
///
/// While there are requests it looks at them now and then. Only where one has waited since the last look, and not a byte
/// has come of any, the service is asked whether it is still there.
final class ServiceVigil: Sendable {
  private struct State {
    /// What breaks off each of the requests, by number.
    var requests: [Int: @Sendable () -> Void] = [:]
    var issued = 0
    /// The number that was issued last at the latest look.
    var seen = 0
    /// Whether anything has come since the latest look.
    var hasHeard = false
    var isLooking = false
    var silence: LoadError?
  }

  /// From one look to the next.
  static let interval = Duration.seconds(5)

  private let greeting: ServiceGreeting
  private let time: MonotonicTime
  /// Guards what is known of the requests; they are broken off outside.
  private let state = Mutex(State())

  init(_ greeting: ServiceGreeting, _ time: MonotonicTime) { (self.greeting, self.time) = (greeting, time) }

  /// How the service turned out to hang; nil where it has not.
  var silence: LoadError? { state.withLock { $0.silence } }

  /// Watches over a request.
  ///
  /// - Parameter breakOff: Called once the service turns out to hang.
  /// - Returns: To be ended by.
  func begin(_ breakOff: @escaping @Sendable () -> Void) -> Int {
    let (number, isFirst) = state.withLock { state in
      defer { state.isLooking = true }
      state.issued += 1
      state.requests[state.issued] = breakOff
      return (state.issued, !state.isLooking)
    }
    if isFirst {
      Task { [weak self, time] in
        while (try? await time.sleep(Self.interval)) != nil {
          guard await self?.look() == true else { return }
        }
        // Without a thread to sleep on, the next request may find one.
        self?.state.withLock { $0.isLooking = false }
      }
    }
    return number
  }

  /// The request has been answered, or given up.
  func end(_ number: Int) { state.withLock { $0.requests[number] = nil } }

  /// Something has come of an answer.
  func hear() { state.withLock { $0.hasHeard = true } }

  /// Looks whether the service may hang, and asks it then.
  ///
  /// - Returns: Whether there are requests.
  private func look() async -> Bool {
    let isSilent = state.withLock { state -> Bool? in
      guard !state.requests.isEmpty else {
        state.isLooking = false
        return nil
      }
      defer { (state.seen, state.hasHeard) = (state.issued, false) }
      return !state.hasHeard && state.requests.keys.contains { $0 <= state.seen }
    }
    guard let isSilent else { return false }
    // One that lets nobody in, as it ends or has too many clients, serves those that it has; if not, they are told.
    guard isSilent, let silence = await greeting.perform(), silence.code == .timeout else { return true }
    let requests = state.withLock { state in
      guard !state.hasHeard else { return [] as [@Sendable () -> Void] }
      state.silence = silence
      return Array(state.requests.values)
    }
    for breakOff in requests { breakOff() }
    return true
  }
}

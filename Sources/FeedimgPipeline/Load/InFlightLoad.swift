import FeedimgModel
import Synchronization

/// One load that runs, seen by its callers and by the transfer that serves it.
///
/// For any thread: the transfer reports progress and looks at the priority here.
package final class InFlightLoad: Sendable {
  /// Hears of progress; bytes count with the first caller alone.
  typealias Listener = @Sendable (LoadProgress, InFlightLoad, _ isFirst: Bool) -> Void
  typealias ResponseListener = @Sendable (StreamingResponse) -> Void
  /// Returns the latest scan of an image that arrives.
  typealias ScanSource = @Sendable () -> ArrivingScans.Scan?

  private struct State {
    var priority: LoadPriority
    var first: CoalescerState.Waiter?
    var progress: LoadProgress?
    var listeners: [CoalescerState.Waiter: Listener] = [:]
    var response: StreamingResponse?
    var responseListeners: [CoalescerState.Waiter: ResponseListener] = [:]
    var onPriority: (@Sendable () -> Void)?
    var scans: (url: ImageURL, source: ScanSource)?
    var isAbandoned = false
    var isRequested = false
    var countsElsewhere = false
  }

  /// Guards all of it; listeners are called outside.
  private let state: Mutex<State>

  init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  /// The highest priority of its callers.
  var priority: LoadPriority { state.withLock { $0.priority } }

  /// Whether the last caller has left, so that no more of the response is wanted.
  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  func abandon() { state.withLock { $0.isAbandoned = true } }

  /// Whether a request is out, or has brought something: a change of its price then comes too late for it.
  var isRequested: Bool {
    get { state.withLock { $0.isRequested || $0.progress != nil } }
    set { state.withLock { $0.isRequested = newValue } }
  }

  /// Whether the bytes count with a client of the service, and so with no caller here.
  var countsElsewhere: Bool {
    get { state.withLock { $0.countsElsewhere } }
    set { state.withLock { $0.countsElsewhere = newValue } }
  }

  /// Sets the priority and the first caller; ``announcePriority()`` then tells the listener.
  func set(priority: LoadPriority, first: CoalescerState.Waiter) {
    state.withLock { ($0.priority, $0.first) = (priority, first) }
  }

  /// Calls one listener, in place of an earlier one, when the priority may have changed.
  func onPriority(_ listener: (@Sendable () -> Void)?) { state.withLock { $0.onPriority = listener } }

  func announcePriority() { state.withLock { $0.onPriority }?() }

  // MARK: Progress

  /// Adds the listeners of a caller, which hear at once of what is known already.
  func listen(_ waiter: CoalescerState.Waiter, _ listener: Listener?, _ onResponse: ResponseListener?) {
    let (progress, isFirst, response) = state.withLock { state in
      state.listeners[waiter] = listener
      state.responseListeners[waiter] = onResponse
      return (state.progress, !state.countsElsewhere && state.first == waiter, state.response)
    }
    if let progress { listener?(progress, self, isFirst) }
    if let response { onResponse?(response) }
  }

  func forget(_ waiter: CoalescerState.Waiter) {
    state.withLock { state in
      state.listeners[waiter] = nil
      state.responseListeners[waiter] = nil
    }
  }

  /// How far the transfer has come; nil before its head.
  var progress: LoadProgress? { state.withLock { $0.progress } }

  /// Records progress that no caller hears of yet.
  func note(_ progress: LoadProgress) { state.withLock { $0.progress = progress } }

  /// Tells all callers how far the transfer has come.
  ///
  /// - Throws: `cancelled` where the last of them leaves for that, so that no more of the response comes.
  func report(_ progress: LoadProgress) throws(LoadError) {
    let listeners = state.withLock { state in
      state.progress = progress
      let first = state.countsElsewhere ? nil : state.first
      return state.listeners.map { (tell: $0.value, isFirst: $0.key == first) }
    }
    for listener in listeners { listener.tell(progress, self, listener.isFirst) }
    if isAbandoned { throw LoadError(.cancelled, message: "no caller waits for it any more") }
  }

  // MARK: The response as it arrives

  /// Whether a caller wants the response before it is whole.
  var wantsStream: Bool { state.withLock { !$0.responseListeners.isEmpty } }

  /// The response that arrives, once it can be read.
  var response: StreamingResponse? { state.withLock { $0.response } }

  /// Hands the response to all callers that want it as it arrives.
  func stream(_ response: StreamingResponse) {
    let listeners = state.withLock { state in
      state.response = response
      return Array(state.responseListeners.values)
    }
    for listener in listeners { listener(response) }
  }

  /// Lets callers look at the scans of an image that arrives.
  func setScans(of url: ImageURL, _ source: ScanSource?) {
    state.withLock { state in state.scans = source.map { (url, $0) } }
  }

  /// The latest scan that is worth showing; nil where there is none.
  func scan() -> (ImageURL, ArrivingScans.Scan)? {
    guard let (url, source) = state.withLock({ $0.scans }), let scan = source() else { return nil }
    return (url, scan)
  }
}

package import FeedimgModel
import Synchronization

/// One running load, shared by its callers and its transfer.
///
/// Any thread may use it: the transfer reports progress here and reads the priority.
package final class InFlightLoad: Sendable {
  /// Receives progress; the bytes count toward the limits of the first caller only.
  package typealias Listener = @Sendable (LoadProgress, InFlightLoad, _ isFirst: Bool) -> Void
  typealias ResponseListener = @Sendable (StreamingResponse) -> Void
  /// Returns the latest scan of an arriving image.
  typealias ScanSource = @Sendable () -> ScanSelector.Scan?

  private struct State {
    var priority: LoadPriority
    var first: LoadWaiter?
    var progress: LoadProgress?
    var listeners: [LoadWaiter: Listener] = [:]
    var response: StreamingResponse?
    var responseListeners: [LoadWaiter: ResponseListener] = [:]
    var onPriority: (@Sendable () -> Void)?
    var scans: (url: ImageURL, source: ScanSource)?
    var isRequested = false
    var countsForOtherClient = false
  }

  /// Guards the state; listeners are called outside the lock.
  private let state: Mutex<State>
  // The transfer uses these for each chunk of a body, so they need no lock.
  private let hasNoCaller = Atomic(false)
  private let hasReader = Atomic(false)
  /// The bytes so far, which the progress in the state may lag behind.
  private let received = Atomic(0)

  init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  var priority: LoadPriority { state.withLock { $0.priority } }

  /// Whether the last caller has left, so that the transfer can stop.
  var isAbandoned: Bool { hasNoCaller.load(ordering: .acquiring) }

  func abandon() { hasNoCaller.store(true, ordering: .releasing) }

  /// Whether a request was sent or has received bytes, so that a change of its cost is too late.
  var isRequested: Bool {
    get { state.withLock { $0.isRequested || $0.progress != nil } }
    set { state.withLock { $0.isRequested = newValue } }
  }

  /// Whether the bytes count for another client of the service, and therefore for no caller here.
  var countsForOtherClient: Bool {
    get { state.withLock { $0.countsForOtherClient } }
    set { state.withLock { $0.countsForOtherClient = newValue } }
  }

  /// Sets the priority and the first caller; ``announcePriority()`` then calls the listener.
  func set(priority: LoadPriority, first: LoadWaiter) {
    state.withLock { ($0.priority, $0.first) = (priority, first) }
  }

  /// Sets the one listener for changes of the priority.
  func onPriority(_ listener: (@Sendable () -> Void)?) { state.withLock { $0.onPriority = listener } }

  func announcePriority() { state.withLock { $0.onPriority }?() }

  // MARK: Progress

  /// Adds the listeners of a caller, and calls them at once with the progress and response so far.
  func listen(_ waiter: LoadWaiter, _ listener: Listener?, _ onResponse: ResponseListener?) {
    let (isFirst, response) = state.withLock { state in
      state.listeners[waiter] = listener
      state.responseListeners[waiter] = onResponse
      hasReader.store(!state.responseListeners.isEmpty, ordering: .releasing)
      return (!state.countsForOtherClient && state.first == waiter, state.response)
    }
    if let progress { listener?(progress, self, isFirst) }
    if let response { onResponse?(response) }
  }

  func forget(_ waiter: LoadWaiter) {
    state.withLock { state in
      state.listeners[waiter] = nil
      state.responseListeners[waiter] = nil
      hasReader.store(!state.responseListeners.isEmpty, ordering: .releasing)
    }
  }

  /// The progress of the transfer; nil before the head arrives.
  var progress: LoadProgress? {
    var progress = state.withLock { $0.progress }
    progress?.received = ByteCount(received.load(ordering: .relaxed))
    return progress
  }

  /// Records received bytes without reporting them to the callers.
  func note(_ received: ByteCount) { self.received.store(received.bytes, ordering: .relaxed) }

  /// Reports progress to all callers.
  ///
  /// - Throws: `cancelled` if the last caller leaves during this call, so that the transfer stops.
  func report(_ progress: LoadProgress) throws(LoadError) {
    let listeners = state.withLock { state in
      state.progress = progress
      received.store(progress.received.bytes, ordering: .relaxed)
      let first = state.countsForOtherClient ? nil : state.first
      return state.listeners.map { (report: $0.value, isFirst: $0.key == first) }
    }
    for listener in listeners { listener.report(progress, self, listener.isFirst) }
    if isAbandoned { throw LoadError(.cancelled, message: "no caller waits for the image any more") }
  }

  // MARK: The response as it arrives

  /// Whether a caller wants to read the response before it is complete.
  var wantsStream: Bool { hasReader.load(ordering: .acquiring) }

  /// The arriving response, once readers can read it.
  var response: StreamingResponse? { state.withLock { $0.response } }

  /// Passes the response to all callers that want to read it as it arrives.
  func stream(_ response: StreamingResponse) {
    let listeners = state.withLock { state in
      state.response = response
      return Array(state.responseListeners.values)
    }
    for listener in listeners { listener(response) }
  }

  /// Sets the source of scans of an arriving image.
  func setScans(of url: ImageURL, _ source: ScanSource?) {
    state.withLock { state in state.scans = source.map { (url, $0) } }
  }

  /// Returns the latest scan that is worth showing, if any.
  func scan() -> (ImageURL, ScanSelector.Scan)? {
    guard let (url, source) = state.withLock({ $0.scans }), let scan = source() else { return nil }
    return (url, scan)
  }
}

/// The options of one caller of a load: its priority, and whether it asks for the original.
///
/// Both may change while the load waits or runs.
package final class LoadHandle: Sendable {
  private struct State {
    var priority: LoadPriority
    var requestsOriginal = false
    var listeners: [Int: @Sendable () -> Void] = [:]
    var lastListener = 0
  }

  /// Guards the values; listeners are called outside the lock.
  private let state: Mutex<State>

  package init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  package var priority: LoadPriority {
    get { state.withLock { $0.priority } }
    set { change { $0.priority = newValue } }
  }

  /// Whether the caller asks for the original, regardless of the policy.
  package var requestsOriginal: Bool { state.withLock { $0.requestsOriginal } }

  /// Asks for the original from now on.
  package func requestOriginal() { change { $0.requestsOriginal = true } }

  private func change(_ body: (inout State) -> Void) {
    let listeners = state.withLock { state in
      let old = (state.priority, state.requestsOriginal)
      body(&state)
      return old == (state.priority, state.requestsOriginal) ? [] : Array(state.listeners.values)
    }
    for listener in listeners { listener() }
  }

  /// Calls a listener after each change.
  ///
  /// - Returns: The number to pass to ``forget(_:)``.
  func listen(_ onChange: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = onChange
      return state.lastListener
    }
  }

  func forget(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }
}

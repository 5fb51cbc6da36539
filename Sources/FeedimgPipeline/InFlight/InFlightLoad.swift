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

  /// One caller, and the functions that hear of the load.
  struct Caller: Sendable {
    let id: ObjectIdentifier
    let handle: LoadHandle
    let listener: Listener?
    let onResponse: ResponseListener?
  }

  private struct State {
    var priority: LoadPriority
    /// In the order in which they joined.
    var callers: [Caller] = []
    var progress: LoadProgress?
    var response: StreamingResponse?
    var onPriority: (@Sendable () -> Void)?
    var scans: (url: ImageURL, source: ScanSource)?
    var isRequested = false
    var countsForOtherClient = false

    /// The caller whose limits the bytes count toward.
    var first: ObjectIdentifier? { countsForOtherClient ? nil : callers.first?.id }

    mutating func updatePriority() { priority = callers.map(\.handle.priority).max() ?? priority }
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

  // MARK: Callers

  /// The state of a load when a caller joins it.
  typealias JoinState = (isFirst: Bool, response: StreamingResponse?)

  /// Adds a caller, and returns the state that the caller did not hear of; ``progress`` has the bytes so far.
  func add(
    _ id: ObjectIdentifier,
    _ handle: LoadHandle,
    _ listener: Listener?,
    _ onResponse: ResponseListener?
  ) -> JoinState {
    state.withLock { state in
      state.callers.append(Caller(id: id, handle: handle, listener: listener, onResponse: onResponse))
      follow(&state)
      return (state.first == id, state.response)
    }
  }

  /// Removes a caller, and returns it; the transfer can stop after the last one.
  func remove(_ id: ObjectIdentifier) -> [Caller] {
    state.withLock { state in
      let removed = state.callers.filter { $0.id == id }
      state.callers.removeAll { $0.id == id }
      follow(&state)
      if state.callers.isEmpty { hasNoCaller.store(true, ordering: .releasing) }
      return removed
    }
  }

  private func follow(_ state: inout State) {
    state.updatePriority()
    hasReader.store(state.callers.contains { $0.onResponse != nil }, ordering: .releasing)
  }

  /// Follows a change of the priority of a caller.
  func updatePriority() {
    state.withLock { $0.updatePriority() }
    announcePriority()
  }

  /// Sets the one listener for changes of the priority.
  func onPriority(_ listener: (@Sendable () -> Void)?) { state.withLock { $0.onPriority = listener } }

  func announcePriority() { state.withLock { $0.onPriority }?() }

  // MARK: Progress

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
      return state.callers.compactMap { caller in
        caller.listener.map { (report: $0, isFirst: caller.id == state.first) }
      }
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
      return state.callers.compactMap(\.onResponse)
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

import FeedimgModel
import Synchronization

/// Hands out places to transfers as ``LoadQueue`` decides, and takes them away.
final class TransferGate: Sendable {
  typealias Ticket = LoadQueue.Ticket

  private struct State {
    var queue: LoadQueue
    var link: LinkMeasurement
    var waiting: [Ticket: CheckedContinuation<Bool, Never>] = [:]
    /// Ended by a cancellation that came before they waited.
    var cancelled: Set<Ticket> = []
    /// What takes a place away.
    var stops: [Ticket: @Sendable () -> Void] = [:]
    /// What has a transfer leave a path that is no longer there.
    var moves: [Ticket: @Sendable () -> Void] = [:]
    /// The wait for the queue's deadline, and when it ends.
    var alarm: (at: Duration, task: Task<Void, Never>)?
  }

  private let time: MonotonicTime
  /// Guards the queue and the measurement; continuations are resumed and stops called outside.
  private let state: Mutex<State>

  init(_ time: MonotonicTime, network: NetworkKind = .other) {
    self.time = time
    let link = LinkMeasurement(network: network)
    state = Mutex(State(queue: LoadQueue(limits: link.limits), link: link))
  }

  deinit { state.withLock { $0.alarm?.task.cancel() } }

  /// In bits per second, in steps of a tenth; nil before there is a measurement.
  var bandwidth: Int? { state.withLock { $0.link.told } }

  /// How many may transfer at a time.
  var limits: TransferLimits { state.withLock { $0.queue.limits } }

  // MARK: Places

  /// Asks for a place.
  ///
  /// - Returns: To be told of whatever becomes of it, until ``leave(_:)``.
  func enter(host: String, _ priority: LoadPriority) -> Ticket {
    change { $0.queue.enter(host: host, priority: priority, at: $1) }
  }

  /// Waits for a place.
  ///
  /// - Parameters:
  ///   - ticket: That of ``enter(host:_:)``.
  ///   - move: Called when packets go another way, as long as the place is kept.
  ///   - stop: Called when the place is taken away again, perhaps at once.
  /// - Returns: Whether there is one; not if the task was cancelled.
  func place(
    _ ticket: Ticket,
    move: @escaping @Sendable () -> Void = {},
    stop: @escaping @Sendable () -> Void
  ) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.cancelled.remove(ticket) != nil { return false }
          (state.stops[ticket], state.moves[ticket]) = (stop, move)
          if state.queue.isRunning(ticket) { return true }
          state.waiting[ticket] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        let continuation = state.waiting.removeValue(forKey: ticket)
        if continuation == nil { state.cancelled.insert(ticket) }
        return continuation
      }
      continuation?.resume(returning: false)
    }
  }

  /// The transfer has been ended from outside; it waits again, unless it still has its place.
  func stopped(_ ticket: Ticket) {
    change { state, now in
      (state.stops[ticket], state.moves[ticket]) = (nil, nil)
      return ((), state.queue.stopped(ticket, at: now))
    }
  }

  /// Whether it has a place, which nobody has decided to take away.
  func hasPlace(_ ticket: Ticket) -> Bool { state.withLock { $0.queue.isRunning(ticket) } }

  func leave(_ ticket: Ticket) {
    change { state, now in
      (state.stops[ticket], state.moves[ticket]) = (nil, nil)
      state.cancelled.remove(ticket)
      return ((), state.queue.leave(ticket, at: now))
    }
  }

  /// Looks at the priority again, which is read under the lock so that the latest counts.
  func reprioritise(_ ticket: Ticket, to priority: () -> LoadPriority) {
    // Mostly it is what it was.
    guard state.withLock({ $0.queue.priority(of: ticket) != priority() }) else { return }
    change { ((), $0.queue.setPriority(ticket, priority(), at: $1)) }
  }

  /// Whether the transfer may be stopped from now on; decided together with whether it is being stopped already.
  ///
  /// - Returns: See ``LoadQueue/setStoppable(_:_:)``.
  @discardableResult
  func setStoppable(_ ticket: Ticket, _ isStoppable: Bool) -> Bool {
    state.withLock { $0.queue.setStoppable(ticket, isStoppable) }
  }

  /// Begins to measure anew, on another network.
  func enter(network: NetworkKind) {
    change { state, now in
      state.link.enter(network: network, at: now)
      return ((), state.queue.setLimits(state.link.limits, at: now))
    }
  }

  /// Has every transfer that runs leave the path that it began on, as packets now go another way.
  func leavePath() { leavingPath()() }

  /// The same for later: what begins from now on is not concerned.
  func leavingPath() -> @Sendable () -> Void {
    let moves = state.withLock { state in
      // What still waits takes the new path by itself, also where it gets its place before this is called.
      state.moves.filter { state.waiting[$0.key] == nil }.values
    }
    return { for move in moves { move() } }
  }

  /// Whether nothing runs and nothing waits.
  var isIdle: Bool {
    state.withLock { state in
      state.queue.isEmpty && state.waiting.isEmpty && state.stops.isEmpty && state.moves.isEmpty
        && state.cancelled.isEmpty
    }
  }

  // MARK: Measuring

  func transferBegan() { state.withLock { $0.link.begin(at: time.now()) } }

  func transferAnswered(by host: String) { state.withLock { $0.link.answered(by: host, at: time.now()) } }

  /// Something of a body has come.
  func transferBrought(_ bytes: Int, by ticket: Ticket) {
    let now = time.now()
    let isNews = state.withLock { state in
      state.link.receive(bytes, at: now)
      return state.queue.hear(ticket, at: now) || state.link.limits != state.queue.limits
    }
    // Mostly nobody has to give way for that.
    guard isNews else { return }
    change { state, now in
      let steps = state.queue.answered(ticket, at: now)
      let limits = state.link.limits
      return ((), limits == state.queue.limits ? steps : steps + state.queue.setLimits(limits, at: now))
    }
  }

  func transferEnded(_ host: String, wasAnswered: Bool) {
    state.withLock { $0.link.end(host, wasAnswered: wasAnswered, at: time.now()) }
  }

  // MARK: Acting

  @discardableResult
  private func change<Answer>(_ body: (inout State, Duration) -> (Answer, [LoadQueue.Step])) -> Answer {
    let now = time.now()
    let (answer, started, stops) = state.withLock { state in
      var (answer, steps) = body(&state, now)
      var (started, stops): ([CheckedContinuation<Bool, Never>], [@Sendable () -> Void]) = ([], [])
      while !steps.isEmpty {
        switch steps.removeFirst() {
        case .start(let ticket):
          if let continuation = state.waiting.removeValue(forKey: ticket) { started.append(continuation) }
        case .stop(let ticket):
          if let stop = state.stops.removeValue(forKey: ticket) {
            stops.append(stop)
          } else {
            // Nobody has come yet to use the place, so there is nothing to end.
            steps += state.queue.stopped(ticket, at: now)
          }
        }
      }
      setAlarm(&state, now)
      return (answer, started, stops)
    }
    for stop in stops { stop() }
    for continuation in started { continuation.resume(returning: true) }
    return answer
  }

  /// Sees to it that the queue is told when its deadline has come.
  private func setAlarm(_ state: inout State, _ now: Duration) {
    guard let deadline = state.queue.deadline else {
      state.alarm?.task.cancel()
      state.alarm = nil
      return
    }
    // An alarm that comes too early is set anew then.
    if let alarm = state.alarm, alarm.at <= deadline { return }
    state.alarm?.task.cancel()
    let sleep = time.sleep
    let task = Task { [weak self] in
      try? await sleep(max(.zero, deadline - now))
      if !Task.isCancelled { self?.ring() }
    }
    state.alarm = (deadline, task)
  }

  private func ring() {
    change { state, now in
      state.alarm = nil
      return ((), state.queue.tick(at: now))
    }
  }
}

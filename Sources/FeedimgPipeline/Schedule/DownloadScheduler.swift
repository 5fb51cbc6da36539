import FeedimgModel
import FeedimgSystem
import Synchronization

/// Gives slots to downloads as ``SchedulerState`` decides, and takes them away.
@PipelineActor final class DownloadScheduler {
  typealias Ticket = SchedulerState.Ticket

  /// The actions that the scheduler requests of a download.
  struct Download: Sendable {
    /// Ends the transfer if its bytes can be resumed, and returns whether it did.
    let preempt: @PipelineActor @Sendable () -> Bool
    /// Ends the transfer after a change of the network path; the download continues on the new path.
    let movePath: @PipelineActor @Sendable () -> Void
  }

  private(set) var state: SchedulerState
  private(set) var downloads: [Ticket: Download] = [:]
  private(set) var waiting: [Ticket: Event] = [:]
  /// The task that waits for the deadline of the state.
  private var alarm: (at: Duration, task: Task<Void, Never>)?
  private let time: MonotonicTime
  /// Measures the link; any thread may use it.
  nonisolated let link = Mutex(LinkMeter())

  /// - Parameters:
  ///   - time: The clock of all deadlines.
  ///   - interval: The least time between two downloads from a host; zero for no limit.
  nonisolated init(_ time: MonotonicTime, interval: Duration = .zero) {
    self.time = time
    state = SchedulerState(limits: LinkMeter(network: .other).limits, interval: interval)
  }

  deinit { alarm?.task.cancel() }

  // MARK: Slots

  /// Adds a download, which then waits for a slot.
  func enter(host: String, _ priority: LoadPriority) -> Ticket {
    defer { advance() }
    return state.enter(host: host, priority: priority)
  }

  /// Waits for a slot.
  ///
  /// - Returns: Whether the download has a slot; false if the task was cancelled.
  func slot(_ ticket: Ticket, _ download: Download) async -> Bool {
    downloads[ticket] = download
    guard !state.isRunning(ticket) else { return !Task.isCancelled }
    let start = Event()
    waiting[ticket] = start
    defer { waiting[ticket] = nil }
    return await start.wait()
  }

  func hasSlot(_ ticket: Ticket) -> Bool { state.isRunning(ticket) }

  /// Records that a transfer ended without the complete response.
  ///
  /// The download waits again, unless it still has its slot.
  func stopped(_ ticket: Ticket) {
    downloads[ticket] = nil
    state.stopped(ticket, at: time.now())
    advance()
  }

  func leave(_ ticket: Ticket) {
    downloads[ticket] = nil
    state.leave(ticket)
    advance()
  }

  func setPriority(_ ticket: Ticket, _ priority: LoadPriority) {
    guard let old = state.priority(of: ticket), old != priority else { return }
    state.setPriority(ticket, priority)
    advance()
  }

  /// Records bytes of the body since the last call.
  func received(_ ticket: Ticket, _ bytes: Int) {
    let wasStalled = state.isStalled(ticket)
    state.received(ticket, bytes, at: time.now())
    let limits = link.withLock { $0.limits }
    guard wasStalled != state.isStalled(ticket) || limits != state.limits else { return }
    state.setLimits(limits)
    advance()
  }

  // MARK: The network

  /// Restarts the measurement of the link after a change of the network path.
  func enter(network: NetworkState) {
    let limits = link.withLock { link in
      link.enter(network: network, at: time.now())
      return link.limits
    }
    state.setLimits(limits)
    advance()
  }

  /// Returns a closure that moves the running downloads to the new network path.
  func leavingPath() -> @PipelineActor @Sendable () -> Void {
    let moves = downloads.filter { waiting[$0.key] == nil }.map(\.value.movePath)
    return { for move in moves { move() } }
  }

  // MARK: Acting

  private func advance() {
    let now = time.now()
    let downloads = downloads
    var actions = state.advance(at: now) { downloads[$0]?.preempt() ?? true }
    while !actions.isEmpty {
      switch actions.removeFirst() {
      case .start(let ticket): waiting.removeValue(forKey: ticket)?.signal()
      case .preempt(let ticket) where downloads[ticket] == nil:
        // The download has a slot and no transfer yet, so there is none to end.
        state.stopped(ticket, at: now)
        actions += state.advance(at: now) { downloads[$0]?.preempt() ?? true }
      case .preempt: break
      }
    }
    setAlarm(now)
  }

  private func setAlarm(_ now: Duration) {
    guard let deadline = state.deadline else {
      alarm?.task.cancel()
      alarm = nil
      return
    }
    // An alarm that fires too early is then set again.
    if let alarm, alarm.at <= deadline { return }
    alarm?.task.cancel()
    let sleep = time.sleep
    let task = PipelineActor.task { [weak self] in
      let hasSlept = (try? await sleep(max(.zero, deadline - now))) != nil
      guard !Task.isCancelled, let self else { return }
      self.alarm = nil
      // Without a thread for the alarm, the next event sets it again, and no download waits for its interval.
      if hasSlept || self.state.endIntervals() { self.advance() }
    }
    alarm = (deadline, task)
  }
}

import FeedimgModel
import FeedimgSystem
import Synchronization

/// Gives slots to downloads as ``SchedulerState`` decides, and takes them away.
@PipelineActor final class DownloadScheduler {
  typealias Ticket = SchedulerState.Ticket

  /// What the scheduler asks of a download.
  struct Download: Sendable {
    /// Ends the transfer if its bytes can be resumed; whether it did.
    let preempt: @PipelineActor @Sendable () -> Bool
    /// Packets now take another path: ends the transfer, which goes on there.
    let movePath: @PipelineActor @Sendable () -> Void
  }

  private var state: SchedulerState
  private var downloads: [Ticket: Download] = [:]
  private var waiting: [Ticket: CheckedContinuation<Bool, Never>] = [:]
  /// The task that waits for the deadline of the state.
  private var alarm: (at: Duration, task: Task<Void, Never>)?
  private let time: MonotonicTime
  /// Measures the link; for any thread.
  nonisolated let link: LinkMonitor

  nonisolated init(_ time: MonotonicTime) {
    self.time = time
    link = LinkMonitor(time)
    state = SchedulerState(limits: LinkMeter(network: .other).limits)
  }

  isolated deinit { alarm?.task.cancel() }

  var limits: TransferLimits { state.limits }

  /// Whether nothing runs and nothing waits.
  var isIdle: Bool { state.isEmpty && waiting.isEmpty && downloads.isEmpty }

  // MARK: Slots

  /// Enters a download, which then waits for its slot.
  func enter(host: String, _ priority: LoadPriority) -> Ticket {
    defer { advance() }
    return state.enter(host: host, priority: priority)
  }

  /// Waits for a slot.
  ///
  /// - Returns: Whether there is one; false if the task was cancelled.
  func slot(_ ticket: Ticket, _ download: Download) async -> Bool {
    downloads[ticket] = download
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled || state.isRunning(ticket) {
          return continuation.resume(returning: !Task.isCancelled)
        }
        waiting[ticket] = continuation
      }
    } onCancel: {
      Task { @PipelineActor in self.waiting.removeValue(forKey: ticket)?.resume(returning: false) }
    }
  }

  func hasSlot(_ ticket: Ticket) -> Bool { state.isRunning(ticket) }

  /// The transfer has ended without the whole response; it waits again unless it still has its slot.
  func stopped(_ ticket: Ticket) {
    downloads[ticket] = nil
    state.stopped(ticket, at: time.now())
    advance()
  }

  /// The download has ended.
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

  /// Bytes of the body of a download have come since the last call.
  func received(_ ticket: Ticket, _ bytes: Int) {
    let wasStalled = state.isStalled(ticket)
    state.received(ticket, bytes, at: time.now())
    let limits = link.limits
    guard wasStalled != state.isStalled(ticket) || limits != state.limits else { return }
    state.setLimits(limits)
    advance()
  }

  // MARK: The network

  /// Packets take another path: the link is measured anew.
  func enter(network: NetworkKind) {
    link.enter(network: network)
    state.setLimits(link.limits)
    advance()
  }

  /// The downloads that run now, each of which goes on by the new path when the result is called.
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
      case .start(let ticket): waiting.removeValue(forKey: ticket)?.resume(returning: true)
      case .preempt(let ticket) where downloads[ticket] == nil:
        // It has a slot and has not begun, so there is nothing to end.
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
    // An alarm that comes too early is set again then.
    if let alarm, alarm.at <= deadline { return }
    alarm?.task.cancel()
    let sleep = time.sleep
    let task = Task { @PipelineActor [weak self] in
      try? await sleep(max(.zero, deadline - now))
      guard !Task.isCancelled, let self else { return }
      self.alarm = nil
      self.advance()
    }
    alarm = (deadline, task)
  }
}

/// Measures the link from any thread; see ``LinkMeter``.
final class LinkMonitor: Sendable {
  private let time: MonotonicTime
  /// Guards the measurement.
  private let meter = Mutex(LinkMeter())

  init(_ time: MonotonicTime) { self.time = time }

  /// In bits per second, in steps of a tenth; nil before there is a measurement.
  var bandwidth: Int? { meter.withLock { $0.reported } }

  var limits: TransferLimits { meter.withLock { $0.limits } }

  func enter(network: NetworkKind) { meter.withLock { $0.enter(network: network, at: time.now()) } }

  /// A request goes out.
  func began() { meter.withLock { $0.begin(at: time.now()) } }

  /// The head of its response came.
  func responded() { meter.withLock { $0.respond(at: time.now()) } }

  /// Bytes of a body came.
  ///
  /// - Returns: Whether the limits changed by that.
  func received(_ bytes: Int, at now: Duration) -> Bool { meter.withLock { $0.receive(bytes, at: now) } }

  /// The transfer has ended, after or without ``responded()``.
  func ended(hasResponse: Bool) { meter.withLock { $0.end(hasResponse: hasResponse, at: time.now()) } }
}

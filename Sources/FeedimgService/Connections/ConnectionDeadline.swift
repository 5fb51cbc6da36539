import NIOCore

/// The time by which a client must take its next step; used on the event loop of the connection.
///
/// The deadline moves with each request. The timer stays as it is and is set again when it fires too early.
final class ConnectionDeadline {
  private var due: NIODeadline?
  private var scheduled: Scheduled<Void>?
  private var fires = NIODeadline.distantFuture

  /// Sets the deadline; `expire` is called on the loop of the connection, which also makes this call.
  func set(in time: TimeAmount, on loop: any EventLoop, expire: @escaping () -> Void) {
    let due = loop.now + time
    self.due = due
    if scheduled == nil || due < fires { schedule(at: due, on: loop, expire) }
  }

  /// Removes the deadline; it can be set again.
  func clear() { due = nil }

  /// Removes the deadline and the timer.
  func cancel() {
    due = nil
    scheduled?.cancel()
    scheduled = nil
  }

  private func schedule(at due: NIODeadline, on loop: any EventLoop, _ expire: @escaping () -> Void) {
    scheduled?.cancel()
    fires = due
    scheduled = loop.assumeIsolated().scheduleTask(deadline: due) {
      self.scheduled = nil
      guard let due = self.due else { return }
      if loop.now >= due { expire() } else { self.schedule(at: due, on: loop, expire) }
    }
  }
}

import NIOCore

/// The time by which a client must take its next step; used on the event loop of the connection.
///
/// The deadline moves with each request. The timer stays as it is and is set again when it fires too early.
struct ConnectionDeadline {
  private final class Timer {
    var due: NIODeadline?
    var scheduled: Scheduled<Void>?
    var fires = NIODeadline.distantFuture
  }

  private let timer = Timer()

  /// Sets the deadline.
  ///
  /// - Parameters:
  ///   - time: The time from now on.
  ///   - loop: The loop of the connection, which makes this call.
  ///   - expire: Called on the loop when the deadline has passed.
  func set(in time: TimeAmount, on loop: any EventLoop, expire: @escaping () -> Void) {
    let due = loop.now + time
    timer.due = due
    if timer.scheduled == nil || due < timer.fires { Self.schedule(timer, at: due, on: loop, expire) }
  }

  /// Removes the deadline; it can be set again.
  func clear() { timer.due = nil }

  /// Removes the deadline and the timer.
  func cancel() {
    timer.due = nil
    timer.scheduled?.cancel()
    timer.scheduled = nil
  }

  private static func schedule(
    _ timer: Timer,
    at due: NIODeadline,
    on loop: any EventLoop,
    _ expire: @escaping () -> Void
  ) {
    timer.scheduled?.cancel()
    timer.fires = due
    timer.scheduled = loop.assumeIsolated().scheduleTask(deadline: due) {
      timer.scheduled = nil
      guard let due = timer.due else { return }
      if loop.now >= due { expire() } else { schedule(timer, at: due, on: loop, expire) }
    }
  }
}

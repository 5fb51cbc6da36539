import NIOCore

/// When a client must have taken its next step; lives on the event loop of the connection.
///
/// The timer is left alone while the deadline moves on, since it does so with each request.
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
  ///   - time: From now on.
  ///   - loop: The loop of the connection, on which this is called.
  ///   - expire: Called on it if the deadline is reached.
  func set(in time: TimeAmount, on loop: any EventLoop, expire: @escaping () -> Void) {
    let due = loop.now + time
    timer.due = due
    if timer.scheduled == nil || due < timer.fires { Self.schedule(timer, at: due, on: loop, expire) }
  }

  /// Lets the client take as long as it likes.
  func clear() { timer.due = nil }

  /// Forgets the deadline for good.
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

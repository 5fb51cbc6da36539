/// When the transfer thread last looked for what has come, which is taken for the time of all that follows.
///
/// A clock that is read for each line would take a hundredth of the time of a small image. One thread uses it.
final class StepTime {
  /// At a place of its own, as it is read for each line: see ``RunningTransfer``.
  private let place = UnsafeMutablePointer<SuspendingClock.Instant>.allocate(capacity: 1)

  init() { place.initialize(to: SuspendingClock().now) }

  deinit { place.deallocate() }

  var now: SuspendingClock.Instant {
    get { place.pointee }
    set { place.pointee = newValue }
  }
}

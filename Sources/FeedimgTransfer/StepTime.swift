/// When the transfer thread last looked for what has come, which is taken for the time of all that follows.
///
/// A clock that is read for each line would take a hundredth of the time of a small image. One thread uses it.
final class StepTime {
  var now = SuspendingClock().now
}

/// What a step of the transfer thread shares with all that libcurl calls in it; one thread uses it.
struct LoopStep {
  private struct State {
    var time = Moment.now
    var hasBody = false
  }

  /// At a place of its own, as it is used for each line and piece; see ``RunningTransfer``.
  private let place = UnsafeMutablePointer<State>.allocate(capacity: 1)

  init() { place.initialize(to: State()) }

  /// Called once, by who made it.
  func deallocate() { place.deallocate() }

  /// When the thread last looked for what has come, which is taken for the time of all that follows.
  ///
  /// A clock that is read for each line would take a hundredth of the time of a small image.
  var time: Moment {
    get { place.pointee.time }
    nonmutating set { place.pointee.time = newValue }
  }

  /// Whether any of a body has come in this step.
  var hasBody: Bool {
    get { place.pointee.hasBody }
    nonmutating set { place.pointee.hasBody = newValue }
  }
}

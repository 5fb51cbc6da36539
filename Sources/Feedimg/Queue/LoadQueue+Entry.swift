import FeedimgModel

extension LoadQueue {
  /// What is known of one load.
  struct Entry: Sendable {
    let host: String
    var priority: LoadPriority
    var state = State.waiting
    /// Its place within its class.
    var turn: Int
    var isStoppable = true
  }

  enum State: Sendable {
    case waiting
    case running(begun: Int, isGranted: Bool)
    /// Its place is gone, and its transfer about to be.
    case stopping
  }
}

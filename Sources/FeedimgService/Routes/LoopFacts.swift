import Feedimg
import NIOCore
import NIOPosix
import Synchronization

/// Reads the facts for decisions once for all requests that the event loop reads together.
///
/// The system had the bytes of these requests before, so each decision uses facts that are newer than its request.
final class LoopFacts: Sendable {
  private let loader: ImageLoader
  /// The facts of this turn of the event loop.
  private let context = Mutex<DecisionContext?>(nil)

  init(of loader: ImageLoader) { self.loader = loader }

  var current: DecisionContext {
    guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return loader.decisionContext() }
    if let known = context.withLock({ $0 }) { return known }
    let read = loader.decisionContext()
    context.withLock { $0 = read }
    // The loop runs this after it has read all of them.
    loop.execute { self.context.withLock { $0 = nil } }
    return read
  }
}

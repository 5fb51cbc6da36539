import FeedimgModel
import Synchronization

@testable import Feedimg
@testable import FeedimgPipeline

/// Runs an action as soon as a load has chosen an image, before it continues.
final class DecisionHook: LoadObserving {
  private let image: ShownImage
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  init(deciding image: ShownImage) { self.image = image }

  /// Runs the action once.
  func perform(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

  func observe(_ event: LoadEvent) {
    guard case .decided(let resolution) = event.step, resolution.decision.image == image else { return }
    action.withLock { $0.take() }?()
  }
}

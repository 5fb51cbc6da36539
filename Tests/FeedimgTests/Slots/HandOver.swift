import FeedimgModel
import Synchronization

@testable import Feedimg
@testable import FeedimgPipeline

/// Does something as soon as a load has decided on an image, before it goes on.
final class HandOver: LoadObserving {
  private let image: ShownImage
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  init(deciding image: ShownImage) { self.image = image }

  /// Has it done once.
  func perform(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

  func observe(_ event: LoadEvent) {
    guard case .decided(let resolution) = event.step, resolution.decision.image == image else { return }
    action.withLock { $0.take() }?()
  }
}

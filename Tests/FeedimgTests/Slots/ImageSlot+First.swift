@testable import Feedimg
@testable import FeedimgPipeline

extension ImageSlot {
  /// The first presentation that is as wanted, from the latest on; nil where the slot ends before.
  func first(_ isWanted: (Presentation) -> Bool) async -> Presentation? {
    for await presentation in presentations where isWanted(presentation) { return presentation }
    return nil
  }
}

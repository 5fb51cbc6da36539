@testable import Feedimg
@testable import FeedimgPipeline

extension ImageSlot {
  /// The first matching presentation, from the latest on.
  ///
  /// Nil if the slot ends before.
  func first(_ isWanted: (Presentation) -> Bool) async -> Presentation? {
    for await presentation in presentations where isWanted(presentation) { return presentation }
    return nil
  }
}

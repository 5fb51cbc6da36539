import Feedimg

/// Loads items a few at a time and tells of them in their order.
struct LoadBatch {
  typealias Outcome = Result<LoadedImage, LoadError>

  let loader: ImageLoader
  let items: [FeedItem]

  /// Enough to keep a fast link busy, few enough not to starve each other on a slow one.
  private static let concurrency = 6

  /// - Parameter tell: Called for each item with its index, in order.
  func run(_ tell: (Outcome, Int) -> Void) async {
    await withTaskGroup(of: (Int, Outcome).self) { group in
      var waiting = items.indices.makeIterator()
      var early: [Int: Outcome] = [:]
      var next = 0
      func start(_ index: Int) {
        group.addTask { [loader, item = items[index]] in
          do throws(LoadError) {
            return (index, .success(try await loader.load(item)))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      for _ in 0..<Self.concurrency {
        if let index = waiting.next() { start(index) }
      }
      while let (index, outcome) = await group.next() {
        early[index] = outcome
        if let index = waiting.next() { start(index) }
        while let outcome = early.removeValue(forKey: next) {
          tell(outcome, next)
          next += 1
        }
      }
    }
  }
}

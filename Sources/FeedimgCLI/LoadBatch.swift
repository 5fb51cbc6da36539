import Feedimg

/// Loads items a few at a time and tells of them in their order.
struct LoadBatch {
  typealias Outcome = Result<LoadedImage, LoadError>

  let loader: ImageLoader
  let items: [FeedItem]

  /// Enough to keep a fast link busy, few enough not to starve each other on a slow one.
  private static let concurrency = 6

  /// How the load of one item ended.
  private struct Ended: Sendable {
    let index: Int
    let outcome: Outcome
  }

  /// - Parameter tell: Called for each item with its index, in order.
  func run(_ tell: (Outcome, Int) -> Void) async {
    await withTaskGroup(of: Ended.self) { group in
      var begun = 0
      func beginNext() {
        guard begun < items.count else { return }
        group.addTask { [begun] in await ended(begun) }
        begun += 1
      }
      for _ in 0..<Self.concurrency { beginNext() }
      var early: [Int: Outcome] = [:]
      var told = 0
      for await ended in group {
        early[ended.index] = ended.outcome
        beginNext()
        while let outcome = early.removeValue(forKey: told) {
          tell(outcome, told)
          told += 1
        }
      }
    }
  }

  private func ended(_ index: Int) async -> Ended {
    do throws(LoadError) {
      return Ended(index: index, outcome: .success(try await loader.load(items[index])))
    } catch {
      return Ended(index: index, outcome: .failure(error))
    }
  }
}

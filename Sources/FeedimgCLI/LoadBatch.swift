import Feedimg

/// Loads items, some ahead of the one that is told next, and tells of them in their order.
///
/// Which of them transfer, and how many at a time, is the loader's to decide: it knows the link and the hosts.
struct LoadBatch {
  typealias Outcome = Result<LoadedImage, LoadError>

  let loader: ImageLoader
  let items: [FeedItem]
  /// Whether to ask first about what is cached.
  var isReload = false

  /// How far loads run ahead of one that takes long, as what they bring waits in memory to be told.
  private static let lead = 24

  /// How the load of one item ended.
  private struct Ended: Sendable {
    let index: Int
    let outcome: Outcome
  }

  /// - Parameter tell: Called for each item with its index, in order.
  func run(_ tell: (Outcome, Int) -> Void) async {
    await withTaskGroup(of: Ended.self) { group in
      var (begun, told) = (0, 0)
      var early: [Int: Outcome] = [:]
      func beginAsMany() {
        while begun < min(items.count, told + Self.lead) {
          // Up to where it waits for its turn at once, so that they come in their order.
          group.addImmediateTask { [begun] in await ended(begun) }
          begun += 1
        }
      }
      beginAsMany()
      for await ended in group {
        early[ended.index] = ended.outcome
        while let outcome = early.removeValue(forKey: told) {
          tell(outcome, told)
          told += 1
        }
        beginAsMany()
      }
    }
  }

  private func ended(_ index: Int) async -> Ended {
    do throws(LoadError) {
      let item = items[index]
      let image = isReload ? try await loader.reload(item) : try await loader.load(item)
      return Ended(index: index, outcome: .success(image))
    } catch {
      return Ended(index: index, outcome: .failure(error))
    }
  }
}

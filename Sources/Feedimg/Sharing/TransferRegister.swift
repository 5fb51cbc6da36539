package import FeedimgModel
import Synchronization

/// The transfers that are under way or wait for their place, for who shows them.
package final class TransferRegister: Sendable {
  /// One transfer, as it is now.
  package struct Transfer: Sendable, Hashable {
    /// What it brings.
    package var url: ImageURL
    /// What that is of an item; nil for what was asked for by its URL alone.
    package var role: ImageVariant.Role?
    /// As the item tells it; nil where nobody does.
    package var announced: ByteCount?
    /// That of the most urgent of those who wait for it.
    package var priority: LoadPriority
    /// Nil before anything has come.
    package var progress: LoadProgress?
  }

  /// A class, as each is looked for among the others when it ends.
  private final class Entry: Sendable {
    let run: LoadRun
    let url: ImageURL
    let variant: ImageVariant?
    let end = TrialEnd()

    init(run: LoadRun, url: ImageURL, variant: ImageVariant? = nil) {
      (self.run, self.url, self.variant) = (run, url, variant)
    }
  }

  private struct State {
    /// In the order in which they began.
    var entries: [Entry] = []
    var onChange: (@Sendable () -> Void)?
  }

  /// Guards what is transferred; who listens is called outside.
  private let state = Mutex(State())

  /// All transfers, those first that began first.
  package var present: [Transfer] {
    state.withLock { $0.entries }.map {
      Transfer(
        url: $0.url,
        role: $0.variant?.role,
        announced: $0.variant?.size,
        priority: $0.run.priority,
        progress: $0.run.latest
      )
    }
  }

  /// Tells one listener, in place of any earlier one, whenever a transfer begins, goes on or ends.
  ///
  /// - Parameter onChange: Called on the threads of the transfers, often; must return at once.
  package func listen(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }

  func begin(_ run: LoadRun, of variant: ImageVariant) {
    begin(Entry(run: run, url: variant.url, variant: variant))
  }

  func begin(_ run: LoadRun, of url: ImageURL) { begin(Entry(run: run, url: url)) }

  private func begin(_ entry: Entry) {
    state.withLock { $0.entries.append(entry) }
    tell()
  }

  func end(_ run: LoadRun) {
    let ended = state.withLock { state in
      defer { state.entries.removeAll { $0.run === run } }
      return state.entries.filter { $0.run === run }
    }
    for entry in ended { entry.end.tell() }
    tell()
  }

  /// The ends of transfers of an image that nobody waits for any more, whatever was asked for with it.
  ///
  /// - Parameters:
  ///   - url: That of the image.
  ///   - run: Who asks, and does not wait for itself.
  /// - Returns: In the order in which they began.
  func windingDown(of url: ImageURL, beside run: LoadRun) -> [TrialEnd] {
    state.withLock { $0.entries }
      .filter { $0.variant != nil && $0.url.key == url.key && $0.run.isLeft && $0.run !== run }.map(\.end)
  }

  /// Tells that one has gone on.
  func tell() { state.withLock { $0.onChange }?() }
}

extension ImageLoader {
  /// What this loader transfers now, and those that share its parts.
  package var transferRegister: TransferRegister { transfers }
}

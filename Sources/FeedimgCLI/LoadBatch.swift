import Feedimg

/// Loads items concurrently, and reports their results in the order of the items.
///
/// The loader limits the simultaneous transfers.
struct LoadBatch {
  typealias Outcome = Result<LoadedImage, LoadError>

  /// An event of the batch.
  enum Event {
    /// The load of an item has ended; events follow the order of the items.
    case ended(Outcome, index: Int)
    /// The next item still loads from this host; the duration counts from the end of the last item.
    case waiting(host: String, Duration)
  }

  let loader: ImageLoader
  let items: [FeedItem]
  /// Whether to revalidate cached images before they are reported.
  let isReload: Bool
  /// The seconds after which running loads are cancelled; nil for no limit.
  let timeout: Double?

  /// The most loads that run ahead of the next reported item; their images wait in memory.
  private static let lead = 24

  /// The result of a child task.
  private enum Signal: Sendable {
    case ended(Outcome, index: Int)
    case tick
    case timeout
  }

  /// - Parameter report: Receives an event for each item, and one per second while no item ends.
  func run(_ report: (Event) -> Void) async {
    await withTaskGroup(of: Signal.self) { group in
      var (started, reported) = (0, 0)
      var early: [Int: Outcome] = [:]
      var (isOver, lastEnd) = (false, ContinuousClock.now)
      func startLoads() {
        while started < min(items.count, reported + Self.lead) {
          // Run the task at once until it first waits, so that loads enter the queue in order.
          group.addImmediateTask { [started] in .ended(await outcome(started), index: started) }
          started += 1
        }
      }
      func send(_ signal: Signal, after seconds: Double) {
        group.addTask {
          try? await Task.sleep(for: .seconds(seconds))
          return signal
        }
      }
      if let timeout { send(.timeout, after: timeout) }
      startLoads()
      send(.tick, after: 1)
      while reported < items.count, let signal = await group.next() {
        switch signal {
        case .timeout:
          isOver = true
          group.cancelAll()
        case .tick where isOver: break
        case .tick:
          if let host = loader.resolve(items[reported]).url?.host {
            report(.waiting(host: host, .now - lastEnd))
          }
          send(.tick, after: 1)
        case .ended(let outcome, let index):
          early[index] = isOver ? timedOut(outcome, index) : outcome
          while let outcome = early.removeValue(forKey: reported) {
            report(.ended(outcome, index: reported))
            reported += 1
            lastEnd = .now
          }
          startLoads()
        }
      }
      group.cancelAll()
    }
  }

  /// Replaces `cancelled` with `timeout` in the outcome of a load that the timeout cancelled.
  private func timedOut(_ outcome: Outcome, _ index: Int) -> Outcome {
    outcome.mapError { error in
      guard error.code == .cancelled, let timeout else { return error }
      let seconds = timeout == timeout.rounded() ? String(Int(timeout)) : String(timeout)
      var error = error
      error.code = .timeout
      error.url = error.url ?? loader.resolve(items[index]).url
      error.message = "not loaded within \(seconds) s (--timeout)"
      return error
    }
  }

  private func outcome(_ index: Int) async -> Outcome {
    do throws(LoadError) {
      let item = items[index]
      return .success(isReload ? try await loader.reload(item) : try await loader.load(item))
    } catch {
      return .failure(error)
    }
  }
}

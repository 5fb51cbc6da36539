import Feedimg

/// Loads items, some ahead of the one that is told next, and tells of them in their order.
///
/// Which of them transfer, and how many at a time, is the loader's to decide: it knows the link and the hosts.
struct LoadBatch {
  typealias Outcome = Result<LoadedImage, LoadError>

  /// What happens while the batch runs.
  enum Event {
    /// The load of an item ended; items come in their order.
    case ended(Outcome, index: Int)
    /// The next item still loads from a host, for so long since the last one ended.
    case waiting(host: String, Duration)
  }

  let loader: ImageLoader
  let items: [FeedItem]
  /// Whether to ask first about what is cached.
  let isReload: Bool
  /// The seconds after which loads that still run are given up; nil for no limit.
  let timeout: Double?

  /// How far loads run ahead of one that takes long, as what they bring waits in memory to be told.
  private static let lead = 24

  /// What a child task tells.
  private enum Signal: Sendable {
    case ended(Outcome, index: Int)
    case tick
    case timeout
  }

  /// - Parameter tell: Called for each item, and once a second while none ends.
  func run(_ tell: (Event) -> Void) async {
    await withTaskGroup(of: Signal.self) { group in
      var (begun, told) = (0, 0)
      var early: [Int: Outcome] = [:]
      var (isOver, lastEnd) = (false, ContinuousClock.now)
      func beginAsMany() {
        while begun < min(items.count, told + Self.lead) {
          // Up to where it waits for its turn at once, so that they come in their order.
          group.addImmediateTask { [begun] in .ended(await outcome(begun), index: begun) }
          begun += 1
        }
      }
      func startClock() {
        group.addTask {
          try? await Task.sleep(for: .seconds(1))
          return .tick
        }
      }
      if let timeout {
        group.addTask {
          try? await Task.sleep(for: .seconds(timeout))
          return .timeout
        }
      }
      beginAsMany()
      startClock()
      while told < items.count, let signal = await group.next() {
        switch signal {
        case .timeout:
          isOver = true
          group.cancelAll()
        case .tick where isOver: break
        case .tick:
          if let host = loader.resolve(items[told]).url?.host {
            tell(.waiting(host: host, .now - lastEnd))
          }
          startClock()
        case .ended(let outcome, let index):
          early[index] = isOver ? timedOut(outcome, index) : outcome
          while let outcome = early.removeValue(forKey: told) {
            tell(.ended(outcome, index: told))
            told += 1
            lastEnd = .now
          }
          beginAsMany()
        }
      }
      group.cancelAll()
    }
  }

  /// The outcome with the real reason, if the timeout cancelled the load.
  private func timedOut(_ outcome: Outcome, _ index: Int) -> Outcome {
    outcome.mapError { error in
      guard error.code == .cancelled, let timeout else { return error }
      let seconds = timeout == timeout.rounded() ? String(Int(timeout)) : String(timeout)
      var error = error
      error.code = .timeout
      error.url = error.url ?? loader.resolve(items[index]).url
      error.message = "not loaded within the \(seconds) s of --timeout"
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

import FeedimgModel

/// The listeners for changes of the facts.
struct FactListeners {
  private struct Listener {
    let priority: @Sendable () -> LoadPriority
    let onChange: @PipelineActor @Sendable () -> Void
  }

  private var listeners: [Int: Listener] = [:]
  private var issued = 0

  var isEmpty: Bool { listeners.isEmpty }
  var count: Int { listeners.count }

  /// - Returns: The number to pass to ``remove(_:)``.
  mutating func add(
    _ priority: @escaping @Sendable () -> LoadPriority,
    _ onChange: @escaping @PipelineActor @Sendable () -> Void
  ) -> Int {
    issued += 1
    listeners[issued] = Listener(priority: priority, onChange: onChange)
    return issued
  }

  mutating func remove(_ number: Int) { listeners[number] = nil }

  /// Calls all listeners, the most urgent first.
  @PipelineActor func call() {
    let ordered = listeners.sorted { $0.key < $1.key }.map {
      (priority: $0.value.priority(), listener: $0.value)
    }
    for priority in LoadPriority.allCases.reversed() {
      for entry in ordered where entry.priority == priority { entry.listener.onChange() }
    }
  }
}

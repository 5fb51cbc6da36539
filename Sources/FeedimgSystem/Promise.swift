import Synchronization

/// A value that is set once; any number of tasks may wait for it.
package final class Promise<Value: Sendable>: Sendable {
  private let arrived = Mutex<Value?>(nil)
  private let waiters = Waiters<Value>()

  package init() {}

  /// The value; nil before it is set.
  package var current: Value? { arrived.withLock { $0 } }

  /// Sets the value and resumes all waiting tasks in the order of arrival; only the first call has an effect.
  ///
  /// - Returns: Whether this call was the first.
  @discardableResult package func resolve(_ value: Value) -> Bool {
    let isFirst = arrived.withLock { arrived in
      guard arrived == nil else { return false }
      arrived = value
      return true
    }
    if isFirst { waiters.resumeAll(returning: value) }
    return isFirst
  }

  /// Waits for the value; nil if the task is cancelled before the value is set.
  package func value() async -> Value? {
    if let current { return current }
    return await waiters.wait { current }
  }
}

/// An event that happens once; any number of tasks may wait for it.
package typealias Event = Promise<Void>

extension Promise<Void> {
  /// Resumes all waiting tasks; later calls do nothing.
  package func signal() { resolve(()) }

  /// Waits for the event; false if the task is cancelled before the event happens.
  @discardableResult package func wait() async -> Bool { await value() != nil }

  /// Waits for the event, but at most for a time.
  ///
  /// - Returns: False if the task is cancelled or the time ends before the event happens.
  @discardableResult package func wait(_ limit: Duration, _ time: MonotonicTime) async -> Bool {
    if current != nil { return true }
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await self.wait() }
      group.addTask {
        try? await time.sleep(limit)
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }
}

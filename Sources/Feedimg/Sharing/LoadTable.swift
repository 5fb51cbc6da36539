import FeedimgModel

/// Who waits for which key, and how urgently: the decisions of sharing one load among those who ask.
///
/// Pure: each change returns what the caller must now do.
struct LoadTable: Sendable {
  /// One who waits.
  struct Waiter: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// One run of a load, told apart from an earlier one of the same key that is still winding down.
  struct Run: Hashable, Sendable {
    let key: String
    fileprivate let number: Int
  }

  enum Joined: Equatable {
    /// Nobody loads this key yet: begin this run.
    case start(Run)
    /// A load of this key is running: wait for it.
    case join(Run)
    /// The waiter left before it came: answer it at once.
    case gone
  }

  enum Left: Equatable {
    /// The waiter had been answered already, or had not come yet.
    case nothing
    /// Others still wait, perhaps less urgently.
    case keep(Run)
    /// Nobody waits any more: stop this run.
    case stop(Run)
  }

  private struct Entry: Sendable {
    let run: Run
    /// In the order in which they came.
    var waiters: [(waiter: Waiter, priority: LoadPriority)]
  }

  private var entries: [String: Entry] = [:]
  private var keys: [Waiter: String] = [:]
  private var gone: Set<Waiter> = []
  private var issued = 0

  /// Names one who is about to wait.
  mutating func issue() -> Waiter {
    issued += 1
    return Waiter(number: issued)
  }

  mutating func join(_ key: String, _ waiter: Waiter, _ priority: LoadPriority) -> Joined {
    guard gone.remove(waiter) == nil else { return .gone }
    keys[waiter] = key
    if let entry = entries[key] {
      entries[key]?.waiters.append((waiter, priority))
      return .join(entry.run)
    }
    issued += 1
    let run = Run(key: key, number: issued)
    entries[key] = Entry(run: run, waiters: [(waiter, priority)])
    return .start(run)
  }

  /// A waiter leaves, perhaps before it joined.
  mutating func leave(_ waiter: Waiter) -> Left {
    guard let key = keys.removeValue(forKey: waiter) else {
      gone.insert(waiter)
      return .nothing
    }
    entries[key]?.waiters.removeAll { $0.waiter == waiter }
    guard let entry = entries[key] else { return .nothing }
    guard entry.waiters.isEmpty else { return .keep(entry.run) }
    entries[key] = nil
    return .stop(entry.run)
  }

  /// A waiter wants it more urgently, or less.
  ///
  /// - Returns: The run that it waits for, if any.
  mutating func setPriority(_ waiter: Waiter, _ priority: LoadPriority) -> Run? {
    guard let key = keys[waiter], let index = entries[key]?.waiters.firstIndex(where: { $0.waiter == waiter })
    else { return nil }
    entries[key]?.waiters[index].priority = priority
    return entries[key]?.run
  }

  /// The highest of those who wait for a run; nil when it has ended.
  func priority(of run: Run) -> LoadPriority? {
    guard let entry = entries[run.key], entry.run == run else { return nil }
    return entry.waiters.map(\.priority).max()
  }

  /// Who came before all others who wait for a run; nil when it has ended.
  func first(of run: Run) -> Waiter? {
    guard let entry = entries[run.key], entry.run == run else { return nil }
    return entry.waiters.first?.waiter
  }

  /// Ends a run; those who are returned are to be answered, in the order in which they came.
  mutating func finish(_ run: Run) -> [Waiter] {
    guard let entry = entries[run.key], entry.run == run else { return [] }
    entries[run.key] = nil
    for (waiter, _) in entry.waiters { keys[waiter] = nil }
    return entry.waiters.map(\.waiter)
  }

  /// Forgets a waiter that has its answer.
  mutating func forget(_ waiter: Waiter) { gone.remove(waiter) }

  /// How many wait for a key.
  func count(of key: String) -> Int { entries[key]?.waiters.count ?? 0 }

  /// How many wait, for whatever it is.
  var count: Int { keys.count }

  /// Whether nobody waits and nothing is remembered.
  var isEmpty: Bool { entries.isEmpty && keys.isEmpty && gone.isEmpty }
}

/// Who waits for which key: the decisions of sharing one load among those who ask.
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
    case join
    /// The waiter left before it came: answer it at once.
    case gone
  }

  enum Left: Equatable {
    /// Others still wait, or the waiter had been answered already.
    case keep
    /// Nobody waits any more: stop this run.
    case stop(Run)
  }

  private var entries: [String: (run: Run, waiters: [Waiter])] = [:]
  private var keys: [Waiter: String] = [:]
  private var gone: Set<Waiter> = []
  private var issued = 0

  /// Names one who is about to wait.
  mutating func issue() -> Waiter {
    issued += 1
    return Waiter(number: issued)
  }

  mutating func join(_ key: String, _ waiter: Waiter) -> Joined {
    guard gone.remove(waiter) == nil else { return .gone }
    keys[waiter] = key
    guard entries[key] == nil else {
      entries[key]?.waiters.append(waiter)
      return .join
    }
    issued += 1
    let run = Run(key: key, number: issued)
    entries[key] = (run, [waiter])
    return .start(run)
  }

  /// A waiter leaves, perhaps before it joined.
  mutating func leave(_ waiter: Waiter) -> Left {
    guard let key = keys.removeValue(forKey: waiter) else {
      gone.insert(waiter)
      return .keep
    }
    entries[key]?.waiters.removeAll { $0 == waiter }
    guard let entry = entries[key], entry.waiters.isEmpty else { return .keep }
    entries[key] = nil
    return .stop(entry.run)
  }

  /// Ends a run; those who are returned are to be answered, in the order in which they came.
  mutating func finish(_ run: Run) -> [Waiter] {
    guard let entry = entries[run.key], entry.run == run else { return [] }
    entries[run.key] = nil
    for waiter in entry.waiters { keys[waiter] = nil }
    return entry.waiters
  }

  /// Forgets a waiter that has its answer.
  mutating func forget(_ waiter: Waiter) { gone.remove(waiter) }

  /// How many wait for a key.
  func count(of key: String) -> Int { entries[key]?.waiters.count ?? 0 }

  /// Whether nobody waits and nothing is remembered.
  var isEmpty: Bool { entries.isEmpty && keys.isEmpty && gone.isEmpty }
}

import FeedimgModel

/// Which callers wait for which load, and how urgent each load is (pure).
///
/// Each mutating method returns what the caller must do.
struct CoalescerState: Sendable {
  /// One caller that waits.
  struct Waiter: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// One load of a key, distinct from an earlier one that is still ending.
  struct Load: Hashable, Sendable {
    let key: String
    fileprivate let number: Int
  }

  enum Joined: Equatable {
    /// No load of this key runs: start this one.
    case start(Load)
    /// A load of this key runs: wait for it.
    case join(Load)
    /// The caller left before it joined.
    case gone
  }

  enum Left: Equatable {
    /// The caller has its response already, or has not joined yet.
    case nothing
    /// Other callers still wait, perhaps with a lower priority.
    case keep(Load)
    /// No caller waits any more: stop this load.
    case stop(Load)
  }

  private struct Entry: Sendable {
    let load: Load
    /// In the order in which they joined.
    var waiters: [(waiter: Waiter, priority: LoadPriority)]
  }

  private var entries: [String: Entry] = [:]
  private var keys: [Waiter: String] = [:]
  private var gone: Set<Waiter> = []
  private var issued = 0

  /// Names a caller before it joins.
  mutating func issue() -> Waiter {
    issued += 1
    return Waiter(number: issued)
  }

  mutating func join(_ key: String, _ waiter: Waiter, _ priority: LoadPriority) -> Joined {
    guard gone.remove(waiter) == nil else { return .gone }
    keys[waiter] = key
    if let entry = entries[key] {
      entries[key]?.waiters.append((waiter, priority))
      return .join(entry.load)
    }
    issued += 1
    let load = Load(key: key, number: issued)
    entries[key] = Entry(load: load, waiters: [(waiter, priority)])
    return .start(load)
  }

  /// A caller leaves, perhaps before it joined.
  mutating func leave(_ waiter: Waiter) -> Left {
    guard let key = keys.removeValue(forKey: waiter) else {
      gone.insert(waiter)
      return .nothing
    }
    entries[key]?.waiters.removeAll { $0.waiter == waiter }
    guard let entry = entries[key] else { return .nothing }
    guard entry.waiters.isEmpty else { return .keep(entry.load) }
    entries[key] = nil
    return .stop(entry.load)
  }

  /// Changes the priority of a caller.
  ///
  /// - Returns: The load that it waits for, if any.
  mutating func setPriority(_ waiter: Waiter, _ priority: LoadPriority) -> Load? {
    guard let key = keys[waiter], let index = entries[key]?.waiters.firstIndex(where: { $0.waiter == waiter })
    else { return nil }
    entries[key]?.waiters[index].priority = priority
    return entries[key]?.load
  }

  /// The load that a caller waits for; nil where it does not wait.
  func load(of waiter: Waiter) -> Load? { keys[waiter].flatMap { entries[$0]?.load } }

  /// The highest priority of those who wait for a load; nil when it has ended.
  func priority(of load: Load) -> LoadPriority? {
    guard let entry = entries[load.key], entry.load == load else { return nil }
    return entry.waiters.map(\.priority).max()
  }

  /// The caller that joined a load first of those who still wait; nil when it has ended.
  func first(of load: Load) -> Waiter? {
    guard let entry = entries[load.key], entry.load == load else { return nil }
    return entry.waiters.first?.waiter
  }

  /// Ends a load.
  ///
  /// - Returns: The callers to resume, in the order in which they joined.
  mutating func finish(_ load: Load) -> [Waiter] {
    guard let entry = entries[load.key], entry.load == load else { return [] }
    entries[load.key] = nil
    for (waiter, _) in entry.waiters { keys[waiter] = nil }
    return entry.waiters.map(\.waiter)
  }

  /// Forgets a caller that has been resumed.
  mutating func forget(_ waiter: Waiter) { gone.remove(waiter) }

  /// How many callers wait for a key.
  func count(of key: String) -> Int { entries[key]?.waiters.count ?? 0 }

  /// How many callers wait in all.
  var count: Int { keys.count }

  /// Whether no caller waits and nothing is remembered.
  var isEmpty: Bool { entries.isEmpty && keys.isEmpty && gone.isEmpty }
}

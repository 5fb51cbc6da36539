import FeedimgModel

/// Tracks which callers wait for which load, and the priority of each load (pure).
///
/// The mutating methods return the action for the ``Coalescer`` to perform.
struct CoalescerState: Sendable {
  struct Waiter: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// One load of a key; distinct from an earlier load of the key that is still ending.
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
    /// The caller already has its response, or has not joined yet.
    case nothing
    /// Other callers still wait, perhaps with a lower priority.
    case keep(Load)
    /// The last caller has left: stop this load.
    case stop(Load)
  }

  private struct Entry: Sendable {
    let load: Load
    /// The callers in the order in which they joined.
    var waiters: [(waiter: Waiter, priority: LoadPriority)]
  }

  private var entries: [String: Entry] = [:]
  private var keys: [Waiter: String] = [:]
  private var gone: Set<Waiter> = []
  private var issued = 0

  /// Creates an identifier for a caller before it joins.
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

  /// Removes a caller, even before it has joined.
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
  /// - Returns: The load for which it waits, if any.
  mutating func setPriority(_ waiter: Waiter, _ priority: LoadPriority) -> Load? {
    guard let key = keys[waiter], let index = entries[key]?.waiters.firstIndex(where: { $0.waiter == waiter })
    else { return nil }
    entries[key]?.waiters[index].priority = priority
    return entries[key]?.load
  }

  /// The load for which a caller waits; nil if it does not wait.
  func load(of waiter: Waiter) -> Load? { keys[waiter].flatMap { entries[$0]?.load } }

  /// The highest priority of the callers of a load; nil when the load has ended.
  func priority(of load: Load) -> LoadPriority? {
    guard let entry = entries[load.key], entry.load == load else { return nil }
    return entry.waiters.map(\.priority).max()
  }

  /// The waiting caller that joined a load first; nil when the load has ended.
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

  /// The number of callers that wait for a key.
  func count(of key: String) -> Int { entries[key]?.waiters.count ?? 0 }

  var count: Int { keys.count }

  var isEmpty: Bool { entries.isEmpty && keys.isEmpty && gone.isEmpty }
}

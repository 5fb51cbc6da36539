import FeedimgModel

/// Values within a budget of bytes, evicted as a segmented LRU (pure).
///
/// A new value is on probation, and its first use protects it. So a scroll through a thousand new images evicts none
/// that was used twice. Protected values take at most four fifths of the budget. Beyond that, the least recently used
/// one goes back on probation.
struct BoundedStore<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Slot {
    var value: Value
    var cost: Int
    var isProtected = false
  }

  private var slots: [Key: Slot] = [:]
  private var onProbation = RecencyOrder<Key>()
  private var protected = RecencyOrder<Key>()
  private var protectedCost = 0
  private(set) var cost = 0
  private(set) var limit: Int
  /// Removed values, for the owner to release outside its lock.
  private var removed: [Value] = []

  init(limit: ByteCount) { self.limit = limit.bytes }

  var count: Int { slots.count }

  func contains(_ key: Key) -> Bool { slots[key] != nil }

  /// The value of a key, without counting a use.
  func peek(_ key: Key) -> Value? { slots[key]?.value }

  /// The value of a key, counted as used.
  mutating func use(_ key: Key) -> Value? {
    guard let slot = slots[key] else { return nil }
    if slot.isProtected {
      protected.use(key)
    } else {
      protect(key, cost: slot.cost)
    }
    return slot.value
  }

  private mutating func protect(_ key: Key, cost: Int) {
    onProbation.remove(key)
    protected.use(key)
    slots[key]?.isProtected = true
    protectedCost += cost
    while protectedCost > limit / 5 * 4, let oldest = protected.minimumRecent, oldest != key {
      protected.remove(oldest)
      onProbation.use(oldest)
      slots[oldest]?.isProtected = false
      protectedCost -= slots[oldest]?.cost ?? 0
    }
  }

  /// Inserts a value, and removes an earlier one of its key.
  ///
  /// A value that costs more than a quarter of the budget is not kept, as too many others would be evicted for it.
  mutating func insert(_ value: Value, for key: Key, cost: Int) {
    let wasProtected = slots[key]?.isProtected == true
    remove(key)
    let cost = max(0, cost)
    guard cost <= limit / 4 else { return }
    shrink(to: limit - cost)
    slots[key] = Slot(value: value, cost: cost)
    onProbation.use(key)
    self.cost += cost
    // A new version of an image that was used twice stays protected.
    if wasProtected { protect(key, cost: cost) }
  }

  /// Changes the value of a key, if it is there, but not its cost.
  mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    guard var slot = slots.removeValue(forKey: key) else { return }
    body(&slot.value)
    slots[key] = slot
  }

  mutating func remove(_ key: Key) {
    guard let slot = slots.removeValue(forKey: key) else { return }
    if slot.isProtected {
      protected.remove(key)
      protectedCost -= slot.cost
    } else {
      onProbation.remove(key)
    }
    cost -= slot.cost
    removed.append(slot.value)
  }

  mutating func removeAll(where isRemoved: (Key, Value) -> Bool) {
    for key in slots.compactMap({ isRemoved($0, $1.value) ? $0 : nil }) { remove(key) }
  }

  /// Evicts values until the rest cost at most `target`, first those on probation.
  mutating func shrink(to target: Int) {
    while cost > max(0, target), let key = onProbation.minimumRecent ?? protected.minimumRecent {
      remove(key)
    }
  }

  mutating func setLimit(_ limit: ByteCount) {
    self.limit = limit.bytes
    shrink(to: self.limit)
  }

  /// Returns the values that were removed since the last call.
  mutating func takeRemoved() -> [Value] {
    guard !removed.isEmpty else { return [] }
    defer { removed = [] }
    return removed
  }
}

/// Keys in the order of their use, as a doubly linked list in an array (pure).
///
/// Every change takes constant time.
struct RecencyOrder<Key: Hashable & Sendable>: Sendable {
  private struct Node {
    var key: Key
    var newer: Int?
    var older: Int?
  }

  private var nodes: [Node?] = []
  private var free: [Int] = []
  private var places: [Key: Int] = [:]
  private var newest: Int?
  private var oldest: Int?

  init() {}

  var count: Int { places.count }

  var minimumRecent: Key? { oldest.flatMap { nodes[$0]?.key } }

  /// Makes a key the most recently used one, and adds it if it is missing.
  mutating func use(_ key: Key) {
    if let place = places[key] {
      guard place != newest else { return }
      unlink(place)
      link(place, key: key)
    } else {
      let place = free.popLast() ?? nodes.count
      if place == nodes.count { nodes.append(nil) }
      places[key] = place
      link(place, key: key)
    }
  }

  /// Removes a key, if it is there.
  mutating func remove(_ key: Key) {
    guard let place = places.removeValue(forKey: key) else { return }
    unlink(place)
    nodes[place] = nil
    free.append(place)
  }

  private mutating func link(_ place: Int, key: Key) {
    nodes[place] = Node(key: key, newer: nil, older: newest)
    if let newest { nodes[newest]?.newer = place }
    newest = place
    oldest = oldest ?? place
  }

  private mutating func unlink(_ place: Int) {
    guard let node = nodes[place] else { return }
    if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
    if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
  }
}

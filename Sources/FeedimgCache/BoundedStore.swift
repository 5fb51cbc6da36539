import FeedimgModel

/// Values within a budget of bytes; those used once give way before those used again (pure).
///
/// A value begins on probation, and is protected once it is used. Scrolling through a thousand new images therefore
/// displaces none that have been looked at twice (segmented LRU). What is protected takes four fifths of the budget at
/// most; beyond that, what was used least recently goes back on probation.
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

  init(limit: ByteCount) { self.limit = limit.bytes }

  var count: Int { slots.count }

  func contains(_ key: Key) -> Bool { slots[key] != nil }

  /// The value of a key, which does not count as used.
  func peek(_ key: Key) -> Value? { slots[key]?.value }

  /// The value of a key, which thereby counts as used.
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
    while protectedCost > limit / 5 * 4, let oldest = protected.leastRecent, oldest != key {
      protected.remove(oldest)
      onProbation.use(oldest)
      slots[oldest]?.isProtected = false
      protectedCost -= slots[oldest]?.cost ?? 0
    }
  }

  /// The values that give way to a new one, for the caller to let go of outside of its lock.
  ///
  /// A value that costs more than a quarter of the budget is not kept, as too much else would go for it; what the
  /// key had before goes all the same.
  mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
    let wasProtected = slots[key]?.isProtected == true
    var gone = remove(key)
    let cost = max(0, cost)
    guard cost <= limit / 4 else { return gone }
    gone += shrink(to: limit - cost)
    slots[key] = Slot(value: value, cost: cost)
    onProbation.use(key)
    self.cost += cost
    // A new form of an image does not have to prove itself again.
    if wasProtected { protect(key, cost: cost) }
    return gone
  }

  /// Changes the value of a key, which is there, and what it costs.
  ///
  /// - Returns: The values that give way, for the caller to let go of outside of its lock.
  mutating func change(_ key: Key, costBy difference: Int, _ body: (inout Value) -> Void) -> [Value] {
    guard var slot = slots.removeValue(forKey: key) else { return [] }
    body(&slot.value)
    slot.cost += difference
    slots[key] = slot
    cost += difference
    if slot.isProtected { protectedCost += difference }
    return shrink(to: limit)
  }

  mutating func remove(_ key: Key) -> [Value] {
    guard let slot = slots.removeValue(forKey: key) else { return [] }
    if slot.isProtected {
      protected.remove(key)
      protectedCost -= slot.cost
    } else {
      onProbation.remove(key)
    }
    cost -= slot.cost
    return [slot.value]
  }

  /// Removes values until no more than so many bytes are left, those on probation first.
  mutating func shrink(to target: Int) -> [Value] {
    var gone: [Value] = []
    while cost > max(0, target), let key = onProbation.leastRecent ?? protected.leastRecent {
      gone += remove(key)
    }
    return gone
  }

  mutating func setLimit(_ limit: ByteCount) -> [Value] {
    self.limit = limit.bytes
    return shrink(to: self.limit)
  }
}

/// Keys in the order of their use, with constant time for every change (pure).
///
/// A doubly linked list whose nodes lie in one array, and a dictionary from keys to places in it.
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

  /// The key that has been used least recently.
  var leastRecent: Key? { oldest.flatMap { nodes[$0]?.key } }

  /// Makes a key the most recently used one, whether it was there before or not.
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

  /// Takes a key out; nothing happens where it is not there.
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

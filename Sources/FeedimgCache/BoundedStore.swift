import FeedimgModel

/// Values within a budget of bytes; those unused for longest give way (pure).
struct BoundedStore<Value: Sendable>: Sendable {
  private struct Slot {
    var value: Value
    var cost: Int
  }

  private var slots: [String: Slot] = [:]
  private var order = RecencyOrder<String>()
  private(set) var cost = 0
  private(set) var limit: Int

  init(limit: ByteCount) { self.limit = limit.bytes }

  var count: Int { slots.count }

  /// The value of a key, which thereby counts as used.
  mutating func use(_ key: String) -> Value? {
    guard let slot = slots[key] else { return nil }
    order.use(key)
    return slot.value
  }

  /// The values that give way to a new one, for the caller to let go of outside of its lock.
  ///
  /// A value that costs more than a quarter of the budget is not kept, as too much else would go for it; what the
  /// key had before goes all the same.
  mutating func insert(_ value: Value, for key: String, cost: Int) -> [Value] {
    var gone = remove(key)
    let cost = max(0, cost)
    guard cost <= limit / 4 else { return gone }
    gone += shrink(to: limit - cost)
    slots[key] = Slot(value: value, cost: cost)
    order.use(key)
    self.cost += cost
    return gone
  }

  mutating func remove(_ key: String) -> [Value] {
    guard let slot = slots.removeValue(forKey: key) else { return [] }
    order.remove(key)
    cost -= slot.cost
    return [slot.value]
  }

  /// Removes what has been used least recently until no more than so many bytes are left.
  mutating func shrink(to target: Int) -> [Value] {
    var gone: [Value] = []
    while cost > max(0, target), let key = order.leastRecent { gone += remove(key) }
    return gone
  }

  mutating func setLimit(_ limit: ByteCount) -> [Value] {
    self.limit = limit.bytes
    return shrink(to: self.limit)
  }
}

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

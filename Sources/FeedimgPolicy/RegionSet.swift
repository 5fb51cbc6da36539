/// A set of the regions of one axis, by their indices.
package struct RegionSet: Sendable, Hashable {
  private var words: [UInt64]

  /// The empty set for an axis.
  init(none count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

  /// All regions of an axis.
  init(all count: Int) { self.init(0..<count, of: count) }

  /// Some regions of an axis with that many.
  init(_ indices: some Sequence<Int>, of count: Int) {
    self.init(none: count)
    for index in indices { insert(index) }
  }

  mutating func insert(_ index: Int) { words[index / 64] |= 1 << UInt64(index % 64) }

  func contains(_ index: Int) -> Bool { words[index / 64] >> UInt64(index % 64) & 1 == 1 }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// Ascending.
  package var indices: [Int] {
    var indices: [Int] = []
    for (place, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        indices.append(place * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
    return indices
  }

  func isSubset(of other: RegionSet) -> Bool {
    zip(words, other.words).allSatisfy { $0 & ~$1 == 0 }
  }

  func intersection(_ other: RegionSet) -> RegionSet {
    var result = self
    for index in words.indices { result.words[index] &= other.words[index] }
    return result
  }

  func union(_ other: RegionSet) -> RegionSet {
    var result = self
    for index in words.indices { result.words[index] |= other.words[index] }
    return result
  }

  func subtracting(_ other: RegionSet) -> RegionSet {
    var result = self
    for index in words.indices { result.words[index] &= ~other.words[index] }
    return result
  }
}

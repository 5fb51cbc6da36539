/// Finds the word that was probably meant by one that is not known.
enum Suggestion {
  /// In bytes; longer words are nobody's slip.
  private static let greatestLength = 40

  /// The candidate nearest to a word, or nil if none is near; the first of equally near ones.
  ///
  /// Near is a third of its letters, at least one: `celular` is near `cellular`, `tethered` near nothing.
  static func nearest(to word: some StringProtocol, among candidates: [String]) -> String? {
    guard !word.isEmpty, word.utf8.count <= greatestLength else { return nil }
    let letters = Array(word.lowercased().utf8)
    var best: (word: String, distance: Int)?
    for candidate in candidates {
      let other = Array(candidate.lowercased().utf8)
      let distance = distance(letters, other)
      guard distance <= max(1, min(letters.count, other.count) / 3), distance < (best?.distance ?? .max)
      else {
        continue
      }
      best = (candidate, distance)
    }
    return best?.word
  }

  /// How many letters must be put in, left out, replaced or swapped with a neighbour to turn one into the other.
  ///
  /// The restricted form of Damerau and Levenshtein: no letter is edited twice.
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let replaced = last[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
        var cost = min(replaced, last[column] + 1, current[column - 1] + 1)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          cost = min(cost, beforeLast[column - 2] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}

/// Finds the name that a user most likely meant by a misspelled one.
package enum Spelling {
  /// The length limit of compared words; the effort grows with the square of the length.
  private static let maximumLength = 64

  /// The nearest name, or nil if none is near enough.
  ///
  /// Ignores case, `_` and `-`. At most a third of the letters may differ; swapping two neighbours counts as
  /// one difference. Otherwise, returns the only name that contains all words of the misspelled one.
  package static func nearest(to word: String, among names: some Sequence<String>) -> String? {
    let letters = folded(word)
    guard !letters.isEmpty, letters.count <= maximumLength else { return nil }
    let names = Array(names)
    let ranked = names.map { (name: $0, distance: distance(letters, folded($0))) }
    if let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= max(1, letters.count / 3),
      best.distance < letters.count
    {
      return best.name
    }
    let wanted = words(word)
    let holding = names.filter { Set(wanted).isSubset(of: words($0)) }
    return holding.count == 1 ? holding[0] : nil
  }

  private static func folded(_ word: String) -> [UInt8] {
    word.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
  }

  private static func words(_ name: String) -> [Substring] {
    name.lowercased().split { $0 == "-" || $0 == "_" || $0 == " " }
  }

  /// The fewest insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var best = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}

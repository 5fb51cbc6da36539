/// A part of what a fact can be that no rule of a policy tells apart: one value on an axis.
package enum Region: Sendable, Hashable {
  /// The word of that index.
  case word(Int)
  /// The quantities from one to another, both included.
  case quantities(ClosedRange<Int>)
  /// A quantity that nobody knows.
  case unknown

  /// Whether all of a region is in this one.
  func contains(_ other: Region) -> Bool {
    switch (self, other) {
    case (.word(let mine), .word(let theirs)): mine == theirs
    case (.quantities(let mine), .quantities(let theirs)):
      mine.lowerBound <= theirs.lowerBound && theirs.upperBound <= mine.upperBound
    case (.unknown, .unknown): true
    default: false
    }
  }
}

/// A quantity that a policy compares with, and how its author wrote it.
package struct Threshold: Sendable, Hashable {
  package var quantity: Int
  package var text: String
}

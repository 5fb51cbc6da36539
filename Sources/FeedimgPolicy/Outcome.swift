package import FeedimgModel

/// The outcome that a rule names, before the laws apply.
package struct Outcome: Sendable, Hashable {
  package var image: Ceiling
  package var upgrade: Upgrade = .never
  /// Nil if the rule sets no priority; the load is then wanted now.
  package var priority: Urgency?
}

extension Rule {
  /// The decision: the rule's outcome under the laws.
  package func decision(in situation: Situation) -> Decision {
    Decision(
      ceiling: outcome.image,
      in: situation,
      upgrade: outcome.upgrade,
      urgency: outcome.priority ?? .now,
      rule: number
    )
  }
}

/// A column of a policy that sets part of the outcome.
enum OutcomeColumn: String, CaseIterable {
  case image
  case upgrade
  case priority

  /// Reads a cell: a word of the column, or `-` if the column may be omitted.
  func read(_ cell: String, into outcome: inout Outcome) throws(FactError) {
    switch self {
    case .image: outcome.image = try word(cell, absent: nil)
    case .upgrade: outcome.upgrade = try word(cell, absent: .never)
    case .priority: outcome.priority = cell.singleSpaced == "-" ? nil : try word(cell, absent: nil)
    }
  }

  private func word<Word>(_ cell: String, absent: Word?) throws(FactError) -> Word
  where Word: RawRepresentable & CaseIterable, Word.RawValue == String {
    let text = cell.singleSpaced
    if let word = Word(rawValue: text) { return word }
    if let absent, text == "-" { return absent }
    let words = Word.allCases.map(\.rawValue)
    guard !text.isEmpty else {
      throw FactError(message: "empty cell, expected \(words.joined(separator: ", "))")
    }
    throw FactError(noValue: text, of: rawValue, among: words)
  }
}

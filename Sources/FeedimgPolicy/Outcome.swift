package import FeedimgModel

/// The outcome that a rule names, before the laws apply.
///
/// The initial value of a property stands for a rule without a word in that column.
package struct Outcome: Sendable, Hashable {
  package var image = Ceiling.placeholder
  package var upgrade = Upgrade.never
  /// Nil if the rule sets no priority; the load is then wanted now.
  ///
  /// JSON omits it then, because a prefetch depends on whether the policy sets any.
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

/// A column of a policy that sets one property of ``Outcome``.
///
/// Markdown, JSON and the JSON Schema have the columns in ``all``.
struct OutcomeColumn: Sendable {
  /// In the order of the members in JSON.
  static let all = [
    OutcomeColumn(
      "image",
      "The best image that may be shown. `cached` shows a cached image and fetches nothing.",
      isRequired: true,
      word: { $0.image },
      set: { $0.image = $1 }
    ),
    OutcomeColumn(
      "upgrade",
      "The change of the network after which feedimg resolves the item again.",
      word: { $0.upgrade },
      set: { $0.upgrade = $1 }
    ),
    OutcomeColumn(
      "priority",
      """
      How soon the load is wanted; without it, now. A policy without any `priority` prefetches nothing where \
      data costs.
      """,
      word: { $0.priority },
      set: { $0.priority = $1 }
    ),
  ]

  /// The names of the columns that every rule needs.
  static let required = all.filter(\.isRequired).map(\.name)

  let name: String
  /// The description in the JSON Schema.
  let description: String
  /// Whether every rule needs a word.
  ///
  /// In other columns, a cell may be `-`, and JSON may omit the member.
  let isRequired: Bool
  let words: [String]
  /// The word of an outcome; nil if JSON omits the member.
  let word: @Sendable (Outcome) -> String?
  /// Sets a word of an outcome; false if the column has no such word.
  private let set: @Sendable (inout Outcome, String) -> Bool

  private init<Word>(
    _ name: String,
    _ description: String,
    isRequired: Bool = false,
    word: @escaping @Sendable (Outcome) -> Word?,
    set: @escaping @Sendable (inout Outcome, Word) -> Void
  ) where Word: RawRepresentable<String> & CaseIterable & Sendable {
    self.name = name
    self.description = description
    self.isRequired = isRequired
    words = Word.allCases.map(\.rawValue)
    self.word = { word($0)?.rawValue }
    self.set = { outcome, text in
      guard let word = Word(rawValue: text) else { return false }
      set(&outcome, word)
      return true
    }
  }

  /// The word for a rule that omits the column; nil if the column has none.
  var defaultWord: String? { isRequired ? nil : word(Outcome()) }

  /// Reads a cell: a word of the column, or `-` if the column may be omitted.
  func read(_ cell: String, into outcome: inout Outcome) throws(FactError) {
    let text = cell.singleSpaced
    if set(&outcome, text) || (!isRequired && text == "-") { return }
    guard !text.isEmpty else {
      throw FactError(message: "empty cell, expected \(words.joined(separator: ", "))")
    }
    throw FactError(noValue: text, of: name, among: words)
  }
}

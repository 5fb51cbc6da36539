package import FeedimgModel

/// The facts that policies may use: feedimg's own and those of the host application.
package struct FactCatalog: Sendable, Hashable {
  /// In the order of ``Fact/standard``, then the host's.
  package let facts: [Fact]
  /// In the order of their declaration.
  package let hostFacts: [HostFact]

  /// The facts of feedimg itself.
  package static let standard = FactCatalog(facts: Fact.standard, hostFacts: [])

  private init(facts: [Fact], hostFacts: [HostFact]) { (self.facts, self.hostFacts) = (facts, hostFacts) }

  /// Adds the facts of the host application.
  ///
  /// - Throws: ``FactError`` for a name or value that a table cannot contain, and for a name already in use.
  package init(hosting hostFacts: [HostFact]) throws(FactError) {
    var names = Set(Fact.standard.map(\.name))
    for fact in hostFacts {
      try Self.check(fact.name, "name of a fact")
      guard fact.name != "case" else { throw FactError(message: "`case` cannot be the name of a fact") }
      guard names.insert(fact.name).inserted else {
        throw FactError(message: "fact \(fact.name.quoted) already exists")
      }
      guard fact.values.count >= 2, Set(fact.values).count == fact.values.count else {
        throw FactError(message: "fact \(fact.name.quoted) needs at least two different values")
      }
      for value in fact.values { try Self.check(value, "value of `\(fact.name)`") }
    }
    self.hostFacts = hostFacts
    facts = (Fact.standard + hostFacts.map(Fact.host)).sorted()
  }

  /// Checks that a word can stand in a cell: lower case, single spaces, no operators of the grammar.
  private static func check(_ word: String, _ what: String) throws(FactError) {
    let isPlain =
      word.first?.isLetter ?? false
      && word.unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == " "
      }
      && word.singleSpaced == word && word.lowercased() == word
    guard isPlain, word != "not", !word.hasPrefix("not ") else {
      throw FactError(message: "\(word.quoted) cannot be the \(what), expected words in lower case")
    }
  }
}

/// Why a text is not a fact, a value or a cell; the reader adds the place.
package struct FactError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line, without the suggestion.
  package var message: String
  /// The word that the user probably meant.
  package var suggestion: String?

  package var description: String { message + (suggestion.map { "; did you mean `\($0)`?" } ?? "") }
}

extension FactError {
  /// The error for a text that is none of some words; compares them with `spelling`, by default the text.
  init(noValue text: String, of name: String, among words: [String], like spelling: String? = nil) {
    suggestion = Spelling.nearest(to: spelling ?? text, among: words)
    let expected = suggestion == nil ? ", expected \(words.joined(separator: ", "))" : ""
    message = "\(name) has no value \(text.quoted)\(expected)"
  }
}

extension Fact {
  /// Finds the fact that a user typed in any case, such as `always-original` or `Always original`.
  ///
  /// - Throws: ``FactError``, with a suggestion if a known name is similar.
  package init(typed: String, among catalog: FactCatalog = .standard) throws(FactError) {
    let name = Self.plain(typed)
    guard let fact = catalog.facts.first(where: { $0.name == name }) else {
      throw FactError(
        message: "unknown fact \(typed.quoted)",
        suggestion: Spelling.nearest(to: name, among: catalog.facts.map(\.name))
      )
    }
    self = fact
  }

  /// Sets the fact to a value that a user typed: a word in any case, a quantity such as `300 kB`, or `unknown`.
  ///
  /// - Throws: ``FactError`` with the expected values. The situation then stays unchanged.
  package func set(typed: String, in situation: inout Situation) throws(FactError) {
    guard inputs.isEmpty else {
      let others = inputs.map { "`\($0)`" }.joined(separator: " and ")
      throw FactError(message: "`\(name)` follows from \(others), set them instead")
    }
    switch try region(typed: typed) {
    case .word(let ordinal): set(ordinal: ordinal, in: &situation)
    case .quantities(let range): set(quantity: range.lowerBound, in: &situation)
    case .unknown: set(quantity: nil, in: &situation)
    }
  }

  /// Reads one value that a user typed.
  ///
  /// - Throws: ``FactError`` with the expected values.
  func region(typed: String) throws(FactError) -> Region {
    let value = Self.plain(typed)
    switch domain {
    case .words(let words):
      if let ordinal = words.firstIndex(where: { $0 == typed || Self.plain($0) == value }) {
        return .word(ordinal)
      }
      throw FactError(noValue: typed, of: name, among: words, like: value)
    case .quantity(let unit):
      if value == "unknown" { return .unknown }
      let text = typed.singleSpaced
      guard let quantity = unit.quantity(text, needsUnit: false), quantity <= unit.maximum ?? .max else {
        throw FactError(
          message: "\(name) has no value \(typed.quoted), expected a quantity such as \(unit.example.quoted)"
            + ", or `unknown`"
        )
      }
      return .quantities(quantity...quantity)
    }
  }

  /// Lower-cased, with single spaces for hyphens, underscores and runs of spaces.
  private static func plain(_ typed: String) -> String {
    typed.lowercased().split { $0 == "-" || $0 == "_" || $0.isWhitespace }.joined(separator: " ")
  }
}

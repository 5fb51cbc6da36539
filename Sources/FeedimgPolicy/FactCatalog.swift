package import FeedimgModel

/// The facts that policies may ask about: those that feedimg knows and those of the host application.
package struct FactCatalog: Sendable, Hashable {
  /// In the fixed order.
  package let facts: [Fact]
  /// As they were declared.
  package let hostFacts: [HostFact]

  /// The facts that feedimg knows.
  package static let standard = FactCatalog()

  private init() {
    facts = Fact.standard
    hostFacts = []
  }

  /// Adds the facts of the host application.
  ///
  /// - Parameter hostFacts: Their names and values.
  /// - Throws: ``FactError`` for a name or value that no table can spell, or that is taken.
  package init(hosting hostFacts: [HostFact]) throws(FactError) {
    var names = Set(Fact.standard.map(\.name))
    for fact in hostFacts {
      try Self.check(fact.name, "name of a fact")
      guard fact.name != "case" else { throw FactError(message: "`case` is no name of a fact") }
      guard names.insert(fact.name).inserted else {
        throw FactError(message: "there is a fact \(fact.name.quoted) already")
      }
      guard fact.values.count >= 2, Set(fact.values).count == fact.values.count else {
        throw FactError(message: "fact \(fact.name.quoted) needs two values or more, all different")
      }
      for value in fact.values { try Self.check(value, "value of `\(fact.name)`") }
    }
    self.hostFacts = hostFacts
    facts = (Fact.standard + hostFacts.map(Fact.host)).sorted()
  }

  /// A word can stand in a cell: lower case, single spaces, nothing that the grammar gives a meaning.
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

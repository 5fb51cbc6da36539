/// A fact that a policy may use; a column of its table.
///
/// Situation.swift declares feedimg's own facts. The host application may declare others.
package struct Fact: Sendable {
  /// The possible values of a fact.
  package enum Domain: Sendable, Hashable {
    case words([String])
    /// A quantity of at least zero, or unknown.
    case quantity(QuantityUnit)
  }

  /// Where a situation stores the fact.
  private enum Storage: Sendable {
    /// One byte, which holds the index of the word.
    case word(offset: Int)
    /// An integer, with `Int.max` for an unknown quantity.
    case quantity(offset: Int)
    case derived(from: [String], @Sendable (Situation) -> Int)
    case host(HostFact)
  }

  /// The name in policies, such as `always original`.
  package let name: String
  package let domain: Domain
  /// The source to show when no provider reported the fact, such as `not measured`.
  package let defaultSource: String
  private let storage: Storage

  /// A fact with words, stored in a property.
  ///
  /// The property's type must be an enumeration without payloads, whose byte is the index of the case, or `Bool`.
  init(_ name: String, _ words: [String], _ property: PartialKeyPath<Situation>, defaultSource: String) {
    (self.name, self.defaultSource) = (name, defaultSource)
    domain = .words(words)
    storage = .word(offset: Self.offset(of: property))
  }

  /// A quantity, stored in a property.
  init(_ name: String, _ unit: QuantityUnit, _ property: KeyPath<Situation, Int>, defaultSource: String) {
    (self.name, self.defaultSource) = (name, defaultSource)
    domain = .quantity(unit)
    storage = .quantity(offset: Self.offset(of: property))
  }

  /// A fact that follows from others and cannot be set.
  init(
    _ name: String,
    _ words: [String],
    _ ordinal: any KeyPath<Situation, Int> & Sendable,
    derivedFrom facts: [Fact],
    defaultSource: String
  ) {
    (self.name, self.defaultSource) = (name, defaultSource)
    domain = .words(words)
    storage = .derived(from: facts.map(\.name)) { $0[keyPath: ordinal] }
  }

  /// A fact that the host application declares.
  package static func host(_ fact: HostFact) -> Fact { Fact(fact) }

  private init(_ host: HostFact) {
    (name, defaultSource) = (host.name, "the application has set no value")
    domain = .words(host.values)
    storage = .host(host)
  }

  private static func offset(of property: PartialKeyPath<Situation>) -> Int {
    guard let offset = MemoryLayout<Situation>.offset(of: property) else {
      preconditionFailure("a fact must be declared with a stored property")
    }
    return offset
  }

  /// The possible words; nil for a quantity.
  package var words: [String]? { if case .words(let words) = domain { words } else { nil } }

  /// The host application's declaration; nil for feedimg's own facts.
  package var hostFact: HostFact? { if case .host(let fact) = storage { fact } else { nil } }

  /// The names of the facts that determine this one; empty for a fact that can be set.
  package var inputs: [String] { if case .derived(let inputs, _) = storage { inputs } else { [] } }

  /// The byte offset of the word's index in a situation; nil for other facts.
  package var wordOffset: Int? { if case .word(let offset) = storage { offset } else { nil } }

  /// The byte offset of the quantity in a situation, as an `Int`; nil for other facts.
  package var quantityOffset: Int? { if case .quantity(let offset) = storage { offset } else { nil } }
}

extension Fact {
  /// The value in a situation, as policies write it: a word, an exact quantity, or `unknown`.
  package func value(in situation: Situation) -> String {
    switch domain {
    case .words(let words): words[ordinal(in: situation)]
    case .quantity(let unit): quantity(in: situation).map(unit.text) ?? "unknown"
    }
  }

  /// The index in ``words``; zero for a quantity.
  ///
  /// A fact of the host application has its first value until the application sets a declared one.
  package func ordinal(in situation: Situation) -> Int {
    switch storage {
    case .word(let offset):
      withUnsafeBytes(of: situation) { Int($0.load(fromByteOffset: offset, as: UInt8.self)) }
    case .quantity: 0
    case .derived(_, let ordinal): ordinal(situation)
    case .host(let fact): situation.hostFacts[fact.name].flatMap(fact.values.firstIndex) ?? 0
    }
  }

  /// The quantity in its smallest unit; nil if unknown, and for facts with words.
  package func quantity(in situation: Situation) -> Int? {
    guard case .quantity(let offset) = storage else { return nil }
    let quantity = withUnsafeBytes(of: situation) { $0.load(fromByteOffset: offset, as: Int.self) }
    return quantity == .max ? nil : quantity
  }

  /// Sets the word with an index.
  ///
  /// Does nothing for derived facts and quantities.
  package func set(ordinal: Int, in situation: inout Situation) {
    switch storage {
    case .word(let offset):
      withUnsafeMutableBytes(of: &situation) {
        $0.storeBytes(of: UInt8(ordinal), toByteOffset: offset, as: UInt8.self)
      }
    case .host(let fact): situation.hostFacts[fact.name] = fact.values[ordinal]
    case .quantity, .derived: break
    }
  }

  /// Sets the quantity; nil for unknown.
  ///
  /// Does nothing for facts with words.
  package func set(quantity: Int?, in situation: inout Situation) {
    guard case .quantity(let offset) = storage else { return }
    withUnsafeMutableBytes(of: &situation) {
      $0.storeBytes(of: Situation.stored(quantity), toByteOffset: offset, as: Int.self)
    }
  }
}

extension Fact: Hashable {
  package static func == (left: Fact, right: Fact) -> Bool {
    left.name == right.name && left.hostFact == right.hostFact
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Fact: Comparable {
  /// The order of ``standard``.
  ///
  /// Facts of the host application come last, by name.
  package static func < (left: Fact, right: Fact) -> Bool {
    (left.rank, left.name) < (right.rank, right.name)
  }

  private var rank: Int { hostFact == nil ? Self.standard.firstIndex(of: self) ?? .max : .max }
}

/// A fact that the host application defines for policies.
///
/// For example, whether an image is on screen, or the age of its post.
public struct HostFact: Sendable, Hashable {
  /// The name in policies: lower-case words with single spaces.
  public var name: String
  /// The possible values.
  ///
  /// The first applies until ``Situation/hostFacts`` sets another.
  public var values: [String]

  /// Declares a fact.
  ///
  /// Reading a policy checks the name and values.
  public init(name: String, values: [String]) {
    self.name = name
    self.values = values
  }
}

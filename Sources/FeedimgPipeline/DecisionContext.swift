import FeedimgModel
package import FeedimgPolicy

/// What the items of a batch are decided on: one look at the network and the settings, and one policy.
///
/// Reasons are put into words once for all items that they are the same for.
package struct DecisionContext {
  package let reader: SituationReader
  package let policy: CompiledPolicy
  private var grounds: [Outline: Grounds] = [:]

  init(_ reader: SituationReader, _ policy: CompiledPolicy) {
    self.reader = reader
    self.policy = policy
    sizedRules = policy.table.rules.map { $0.conditions.contains { $0.fact == .size } }
  }

  /// Of each rule, whether its reason tells the size of the item.
  private let sizedRules: [Bool]

  /// Whether the reason of a rule tells the size of the item.
  package func tellsSize(rule: Int) -> Bool { sizedRules[rule - 1] }

  /// Whether it matters what is cached.
  package var asksCache: Bool { reader.asksCache }

  /// What tells the decisions and reasons of two items apart, but for the size.
  package struct Outline: Hashable {
    var isLocal: Bool
    var original: Presence
    var thumbnail: Presence
    var hasSize: Bool
    var fits: Int
    var rule: Int
    var values: [String: String]
  }

  /// Why something is decided, in words.
  private struct Grounds {
    var place: String
    var why: String
    var facts: [FactReading]
    /// Where among ``facts`` the size stands.
    var sizeIndex: Int?
  }

  /// The decision about an item.
  ///
  /// - Parameters:
  ///   - item: What to decide about.
  ///   - values: What the application says of the facts that it defines.
  ///   - isCached: Whether the cache has the image of a URL.
  /// - Returns: The decision with its reasons.
  mutating func resolution(
    of item: FeedItem,
    _ values: [String: String] = [:],
    isCached: (ImageURL) -> Bool
  ) -> Resolution {
    let situation = situation(of: item, values, isCached: isCached)
    return resolution(of: item, in: situation, values, isLocal: reader.isLocal(item))
  }

  /// What is decided about an item, without the reasons in words.
  package struct Decided {
    package let context: DecisionContext
    let item: FeedItem
    let values: [String: String]
    package let situation: Situation
    package let decision: Decision

    /// The same with the reasons.
    package var resolution: Resolution {
      var context = context
      return context.resolution(of: item, in: situation, values, isLocal: context.reader.isLocal(item))
    }
  }

  /// What the policy is asked with about an item; see ``resolution(of:_:isCached:)``.
  package func situation(
    of item: FeedItem,
    _ values: [String: String],
    isCached: (ImageURL) -> Bool
  ) -> Situation {
    func presence(_ variant: ImageVariant?) -> Presence {
      variant.map { isCached($0.url) ? .cached : .remote } ?? .none
    }
    return reader.situation(
      original: presence(item.original),
      thumbnail: presence(item.thumbnail),
      size: item.original?.size,
      values,
      isLocal: reader.isLocal(item)
    )
  }

  /// The decision about an item in a situation that ``reader`` made.
  package mutating func resolution(
    of item: FeedItem,
    in situation: Situation,
    _ values: [String: String] = [:],
    isLocal: Bool = false
  ) -> Resolution {
    let decision = policy.decide(situation)
    let grounds = grounds(of: decision, in: situation, values, isLocal: isLocal)
    return Resolution(
      item: item,
      situation: situation,
      decision: decision,
      policy: policy.name,
      place: grounds.place,
      why: grounds.why,
      facts: grounds.facts
    )
  }

  package func outline(
    of decision: Decision,
    in situation: Situation,
    _ values: [String: String] = [:],
    isLocal: Bool
  ) -> Outline {
    Outline(
      isLocal: isLocal,
      original: situation.original,
      thumbnail: situation.thumbnail,
      hasSize: situation.size != nil,
      fits: situation.fitsOrdinal,
      rule: decision.rule,
      values: values
    )
  }

  private mutating func grounds(
    of decision: Decision,
    in situation: Situation,
    _ values: [String: String],
    isLocal: Bool
  ) -> Grounds {
    let outline = outline(of: decision, in: situation, values, isLocal: isLocal)
    guard var known = grounds[outline] else {
      let facts = reader.facts(in: situation, values, isLocal: isLocal)
      let new = Grounds(
        place: policy.place(ofRule: decision.rule),
        why: policy.why(rule: decision.rule, in: situation),
        facts: facts,
        sizeIndex: facts.firstIndex { $0.name == Fact.size.name }
      )
      // What an application says of its facts may differ from item to item without end.
      if grounds.count < Self.greatestCount { grounds[outline] = new }
      return new
    }
    if situation.size != nil {
      if let index = known.sizeIndex { known.facts[index].value = Fact.size.value(in: situation) }
      if tellsSize(rule: decision.rule) { known.why = policy.why(rule: decision.rule, in: situation) }
    }
    return known
  }

  private static let greatestCount = 1000
}

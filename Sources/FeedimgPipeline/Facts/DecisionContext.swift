import FeedimgModel
package import FeedimgPolicy
import Synchronization

/// The basis for decisions: one snapshot of the facts, and one policy.
///
/// Items with the same reasons share one text.
package final class DecisionContext: Sendable {
  package let reader: SituationReader
  package let policy: CompiledPolicy
  /// The reasons so far, which all decisions of this context share.
  private let knownReasons = Mutex<[ReasonsKey: DecisionReasons]>([:])
  /// An application may give its facts a new value for each item, so the number of known reasons is limited.
  private static let maximumCount = 1000

  init(_ reader: SituationReader, _ policy: CompiledPolicy) {
    self.reader = reader
    self.policy = policy
    sizedRules = policy.table.rules.map { $0.conditions.contains { $0.fact == .size } }
  }

  /// For each rule, whether its reason mentions the size of the item.
  private let sizedRules: [Bool]

  /// Returns whether the reason of a rule mentions the size of the item.
  package func mentionsSize(rule: Int) -> Bool { sizedRules[rule - 1] }

  /// The properties, other than the size, by which the decisions and reasons of two items differ.
  package struct ReasonsKey: Hashable, Sendable {
    var isLocal: Bool
    var original: Presence
    var thumbnail: Presence
    var hasSize: Bool
    var fits: Int
    var rule: Int
    var values: [String: String]
  }

  /// The reasons of a decision, in words.
  private struct DecisionReasons: Sendable {
    var place: String
    var why: String
    var facts: [FactReading]
    /// The index of the size in ``facts``.
    var sizeIndex: Int?
  }

  /// Returns the decision for an item, with its reasons.
  func resolution(
    of item: FeedItem,
    _ values: [String: String] = [:],
    isCached: (ImageURL) -> Bool
  ) -> Resolution {
    let situation = situation(of: item, values, isCached: isCached)
    return resolution(of: item, in: situation, values, isLocal: reader.isLocal(item))
  }

  /// Returns the situation of an item, the input of the policy; see ``resolution(of:_:isCached:)``.
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

  /// Returns the decision for an item in a situation that ``reader`` made.
  package func resolution(
    of item: FeedItem,
    in situation: Situation,
    _ values: [String: String] = [:],
    isLocal: Bool = false
  ) -> Resolution {
    let decision = policy.decide(situation)
    let reasons = reasons(of: decision, in: situation, values, isLocal: isLocal)
    return Resolution(
      item: item,
      situation: situation,
      decision: decision,
      policy: policy.name,
      place: reasons.place,
      why: reasons.why,
      facts: reasons.facts
    )
  }

  package func reasonsKey(
    of decision: Decision,
    in situation: Situation,
    _ values: [String: String] = [:],
    isLocal: Bool
  ) -> ReasonsKey {
    ReasonsKey(
      isLocal: isLocal,
      original: situation.original,
      thumbnail: situation.thumbnail,
      hasSize: situation.size != nil,
      fits: situation.fitsOrdinal,
      rule: decision.rule,
      values: values
    )
  }

  private func reasons(
    of decision: Decision,
    in situation: Situation,
    _ values: [String: String],
    isLocal: Bool
  ) -> DecisionReasons {
    let reasonsKey = reasonsKey(of: decision, in: situation, values, isLocal: isLocal)
    guard var known = knownReasons.withLock({ $0[reasonsKey] }) else {
      let facts = reader.facts(in: situation, values, isLocal: isLocal)
      let new = DecisionReasons(
        place: policy.place(ofRule: decision.rule),
        why: policy.why(rule: decision.rule, in: situation),
        facts: facts,
        sizeIndex: facts.firstIndex { $0.name == Fact.size.name }
      )
      knownReasons.withLock { if $0.count < Self.maximumCount { $0[reasonsKey] = new } }
      return new
    }
    if situation.size != nil {
      if let index = known.sizeIndex { known.facts[index].value = Fact.size.value(in: situation) }
      if mentionsSize(rule: decision.rule) { known.why = policy.why(rule: decision.rule, in: situation) }
    }
    return known
  }
}

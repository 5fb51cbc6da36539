/// One fact as it was read, and by whom.
public struct FactReading: Sendable, Hashable {
  /// As policies name it, such as `always original`.
  public var name: String
  /// The value as policies spell it.
  public var value: String
  /// In words, such as `the route through wlan0` or `--network`.
  public var source: String

  package init(name: String, value: String, source: String) {
    self.name = name
    self.value = value
    self.source = source
  }
}

/// A decision about one item, with all that is needed to explain it.
public struct Resolution: Sendable, Hashable {
  /// What was resolved.
  public var item: FeedItem
  /// The facts that the policy was asked with.
  public var situation: Situation
  /// What to show and what to load.
  public var decision: Decision
  /// The name of the policy that decided.
  public var policy: String
  /// Where the rule stands, such as `default.md:10`.
  public var place: String
  /// Why the rule applies, such as `network is wifi`.
  public var why: String
  /// The facts in the order of POLICY, those that the policy does not ask about included.
  public var facts: [FactReading]

  package init(
    item: FeedItem,
    situation: Situation,
    decision: Decision,
    policy: String,
    place: String,
    why: String,
    facts: [FactReading]
  ) {
    self.item = item
    self.situation = situation
    self.decision = decision
    self.policy = policy
    self.place = place
    self.why = why
    self.facts = facts
  }

  /// The URL of the final image; nil for the placeholder.
  public var url: ImageURL? { decision.image.role.flatMap { item[$0]?.url } }
}

/// The value of one fact, and its source.
public struct FactReading: Sendable, Hashable {
  /// The name in policies, such as `always original`.
  public var name: String
  /// The value in the notation of policies.
  public var value: String
  /// The source in words, such as `the route through wlan0` or `--network`.
  public var source: String

  package init(name: String, value: String, source: String) {
    self.name = name
    self.value = value
    self.source = source
  }
}

/// A decision about one item, with everything that explains it.
public struct Resolution: Sendable, Hashable {
  /// The item that the decision concerns.
  public var item: FeedItem
  /// The facts on which the policy decided.
  public var situation: Situation
  /// The image to show and the image to load.
  public var decision: Decision
  /// The name of the policy that decided.
  public var policy: String
  /// The file and line of the deciding rule, such as `default.md:10`.
  public var place: String
  /// Why the rule applies, such as `network is wifi`.
  public var why: String
  /// All facts in their fixed order, including those that the policy does not use.
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

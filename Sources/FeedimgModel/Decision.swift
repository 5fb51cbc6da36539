/// The outcome of a policy's rule: the best image that may be shown.
public enum Ceiling: String, Sendable, Hashable, CaseIterable {
  case original
  case thumbnail
  /// A cached image; nothing is fetched.
  case cached
  case placeholder
}

/// An image that a view can show.
public enum ShownImage: String, Sendable, Hashable, CaseIterable {
  case original
  case thumbnail
  case placeholder

  /// The shown image for a variant.
  public init(_ role: ImageVariant.Role) { self = role == .original ? .original : .thumbnail }

  /// The variant to show; nil for the placeholder.
  public var role: ImageVariant.Role? {
    switch self {
    case .original: .original
    case .thumbnail: .thumbnail
    case .placeholder: nil
    }
  }
}

/// The source of the final image's bytes.
public enum ImageSource: String, Sendable, Hashable, CaseIterable {
  case cache
  case network
  case none
}

/// The event after which feedimg resolves an item again.
public enum Upgrade: String, Sendable, Hashable, CaseIterable {
  case never
  case online
  case wifi
  case unmetered
  case home
  case onTap = "on tap"
}

/// How soon a load is wanted.
public enum Urgency: String, Sendable, Hashable, CaseIterable {
  case now
  case soon
  case idle
}

/// The image to show and the image to load in one situation.
public struct Decision: Sendable, Hashable {
  /// The image shown in the end, after the laws.
  public var image: ShownImage
  /// The source of ``image``.
  public var source: ImageSource
  /// The image shown meanwhile; equal to ``image`` if nothing is loaded.
  public var show: ShownImage
  /// The variant to fetch; nil for none.
  public var load: ImageVariant.Role?
  /// The event after which feedimg resolves the item again.
  public var upgrade: Upgrade
  /// How soon the load is wanted.
  public var urgency: Urgency
  /// The number of the deciding rule, counted from one.
  public var rule: Int

  /// Applies the laws of every policy to the outcome of a rule.
  ///
  /// If the item lacks a variant, the next lower one is used, never a higher one. A cached variant is never
  /// fetched. Offline, nothing is fetched, and the best cached variant below the ceiling is shown. While the
  /// original downloads, a cached thumbnail is shown.
  public init(
    ceiling: Ceiling,
    in situation: Situation,
    upgrade: Upgrade = .never,
    urgency: Urgency = .now,
    rule: Int
  ) {
    let allowed: [ImageVariant.Role] =
      switch ceiling {
      case .original, .cached: [.original, .thumbnail]
      case .thumbnail: [.thumbnail]
      case .placeholder: []
      }
    self.upgrade = upgrade
    self.urgency = urgency
    self.rule = rule
    let mayFetch = ceiling != .cached && situation.network != .offline
    let chosen = allowed.first { situation[$0] == .cached || (mayFetch && situation[$0] == .remote) }
    image = chosen.map(ShownImage.init) ?? .placeholder
    guard let chosen else {
      (source, show, load) = (.none, .placeholder, nil)
      return
    }
    guard situation[chosen] == .remote else {
      (source, show, load) = (.cache, image, nil)
      return
    }
    (source, load) = (.network, chosen)
    show = chosen == .original && situation.thumbnail == .cached ? .thumbnail : .placeholder
  }
}

extension Decision {
  /// Shows the best cached image in place of one to load.
  package mutating func useOnlyCache() {
    guard load != nil else { return }
    (image, load) = (show, nil)
    source = image == .placeholder ? .none : .cache
  }
}

/// A part of a decision; promises, cases, golden files and JSON use its name.
package enum DecisionPart: String, Sendable, Hashable, CaseIterable {
  case show
  case load
  case image
  case source
  case upgrade
  case priority
  case rule

  /// The parts that the laws set, in the order of golden files and JSON.
  package static let images: [DecisionPart] = [.image, .source, .show, .load]

  /// The parts that the other columns of a policy set, in the order of golden files and JSON.
  package static let columns = allCases.filter { !images.contains($0) && $0 != .rule }

  /// The possible values of the part; nil for the rule's number.
  package var words: [String]? {
    switch self {
    case .show, .image: ShownImage.allCases.map(\.rawValue)
    case .load: ImageVariant.Role.allCases.map(\.rawValue) + ["nothing"]
    case .source: ImageSource.allCases.map(\.rawValue)
    case .upgrade: Upgrade.allCases.map(\.rawValue)
    case .priority: Urgency.allCases.map(\.rawValue)
    case .rule: nil
    }
  }

  /// The value of the part in a decision, such as `nothing` for its load.
  package func value(in decision: Decision) -> String {
    switch self {
    case .show: decision.show.rawValue
    case .load: decision.load?.rawValue ?? "nothing"
    case .image: decision.image.rawValue
    case .source: decision.source.rawValue
    case .upgrade: decision.upgrade.rawValue
    case .priority: decision.urgency.rawValue
    case .rule: String(decision.rule)
    }
  }
}

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

  /// The same decision about an item that differs in its text only.
  package func of(_ item: FeedItem) -> Resolution {
    var other = self
    other.item = item
    return other
  }

  /// The URL of the final image; nil for the placeholder.
  public var url: ImageURL? { decision.image.role.flatMap { item[$0]?.url } }
}

extension ShownImage: Comparable {
  /// Whether the first image is worse than the second.
  public static func < (first: ShownImage, second: ShownImage) -> Bool { first.rank < second.rank }

  private var rank: Int { self == .placeholder ? 0 : self == .thumbnail ? 1 : 2 }
}

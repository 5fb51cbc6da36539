/// The word that a policy's rule says: the best image that may be shown.
public enum Ceiling: String, Sendable, Hashable, CaseIterable {
  case original
  case thumbnail
  /// Whatever is cached; nothing is fetched.
  case cached
  case placeholder
}

/// Something that a view can show.
public enum ShownImage: String, Sendable, Hashable, CaseIterable {
  case original
  case thumbnail
  case placeholder

  /// What showing a variant means.
  public init(_ role: ImageVariant.Role) { self = role == .original ? .original : .thumbnail }

  /// The variant to take bytes from; nil for the placeholder.
  public var role: ImageVariant.Role? {
    switch self {
    case .original: .original
    case .thumbnail: .thumbnail
    case .placeholder: nil
    }
  }
}

/// Where the bytes of the final image come from.
public enum ImageSource: String, Sendable, Hashable, CaseIterable {
  case cache
  case network
  case none
}

/// The event after which an item is worth resolving again.
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

/// What to show and what to load, for one situation.
public struct Decision: Sendable, Hashable {
  /// What is finally shown, after the laws.
  public var image: ShownImage
  /// Where ``image`` comes from.
  public var source: ImageSource
  /// What is shown meanwhile; equals ``image`` where nothing has to be loaded.
  public var show: ShownImage
  /// What has to be fetched, if anything.
  public var load: ImageVariant.Role?
  /// When it is worth resolving again.
  public var upgrade: Upgrade
  /// How soon the load is wanted.
  public var urgency: Urgency
  /// The rule that decided, counted from one.
  public var rule: Int

  /// Applies the laws that hold for every policy to the word of a rule.
  ///
  /// A variant that the item lacks gives way to the next below, never above; a cached variant is never fetched;
  /// offline nothing is fetched, and the best cached variant below the ceiling is shown instead; while the
  /// original is fetched, a cached thumbnail is shown.
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

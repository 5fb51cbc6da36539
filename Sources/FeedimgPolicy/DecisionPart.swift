package import FeedimgModel

/// A part of a decision that promises and test cases can speak of; a column right of the arrow.
package enum DecisionPart: String, Sendable, Hashable, CaseIterable {
  case show
  case load
  case image
  case source
  case upgrade
  case priority
  case rule

  /// The words that the part can be; nil for a rule's number.
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

  /// What the part is in a decision, such as `nothing` for its load.
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

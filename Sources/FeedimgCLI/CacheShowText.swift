import Feedimg
import FeedimgAdmin

/// All that is known of a cached image, as a person reads it.
enum CacheShowText {
  static func text(_ details: CachedImageDetails) -> String {
    let image = details.image
    let freshness = details.freshness
    var lines = [
      Output.bold("\(image.role.rawValue), \(FreshnessText.state(freshness))"),
      ResolutionText.line("rule", freshness.rule),
      ResolutionText.line(
        "age",
        "\(FreshnessText.span(freshness.age)) of \(FreshnessText.span(details.lifetime))"
      ),
      ResolutionText.line("next load", nextLoad(details.nextLoad)),
      ResolutionText.line("asks with", asks(details)),
      ResolutionText.line("file", image.path),
      ResolutionText.line("size", "\(image.size.rounded), \(image.mediaType)"),
      ResolutionText.line("stored", WallClock.date(image.storedAt)),
      ResolutionText.line("used", WallClock.date(image.usedAt)),
      ResolutionText.line("url", image.url),
    ]
    lines += details.chosenBy.map { ResolutionText.line("chosen by", "\($0.name): \($0.value)") }
    lines += details.fields.map { ResolutionText.line("field", "\($0.name): \($0.value)") }
    return lines.joined(separator: "\n")
  }

  private static func nextLoad(_ next: CachedImageDetails.NextLoad) -> String {
    switch next {
    case .show: "shows it, and asks nobody"
    case .showAndAsk: "shows it at once, and asks its server meanwhile, where the policy would fetch it"
    case .askFirst:
      "asks its server first, where the policy would fetch it: it was chosen for another program"
    }
  }

  private static func asks(_ details: CachedImageDetails) -> String {
    guard !details.question.isEmpty else {
      return "nothing that tells versions apart: all of it is sent again"
    }
    let fields = details.question.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
    return fields + (details.hasStrongValidator ? " (strong)" : " (weak)")
  }
}

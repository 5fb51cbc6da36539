import Feedimg
import FeedimgAdmin

/// The details of a cached image as text.
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
      ResolutionText.line("condition", condition(details)),
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
    case .show: "shows it without a request"
    case .showAndRevalidate: "shows it and, if the policy would fetch it, revalidates it"
    case .revalidateFirst:
      "revalidates it first if the policy would fetch it, since its server chose it for another program"
    }
  }

  private static func condition(_ details: CachedImageDetails) -> String {
    guard !details.conditions.isEmpty else {
      return "none, so the server sends the complete image again"
    }
    let fields = details.conditions.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
    return fields + (details.hasStrongValidator ? " (strong)" : " (weak)")
  }
}

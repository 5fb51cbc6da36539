import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract:
        "Print the details of one image: its freshness, the rule for it, and the effect of the next load.",
      discussion: """
        feedimg shows every cached image, fresh or stale. If the image is stale, showing it also revalidates it with \
        its server, provided that the policy would fetch it now. Each rule names its RFC; see \
        Documentation/freshness.md.

        EXAMPLES
          feedimg cache show https://x.example/a.jpg
          feedimg cache show https://x.example/a.jpg --json | jq .freshness

        Exit status: 1 if the image is not in the cache.
        """
    )
    @OptionGroup var image: CachedURL
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let (address, cache) = (try image.address, try folders.cache())
      guard let details = cache.details(of: address) else {
        let begun = cache.partialDownload(of: address).map {
          "; \($0.rounded) of an interrupted download is"
        }
        throw CommandError(.failure, "`\(image.shown)` is not in the cache\(begun ?? "")")
      }
      Output.line(json ? details.json : Self.text(details))
    }

    private static func text(_ details: CachedImageDetails) -> String {
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
}

/// The freshness of an image as text.
enum FreshnessText {
  /// A line such as `stale for 40 s: max-age=60 (RFC 9111 §5.2.2.1); revalidating`.
  static func line(_ freshness: ImageFreshness) -> String {
    let suffix = freshness.isRevalidating ? "; revalidating" : ""
    return "\(state(freshness)): \(freshness.rule)\(suffix)"
  }

  /// A state such as `fresh for 9 min`.
  static func state(_ freshness: ImageFreshness) -> String {
    if freshness.isFresh { return "fresh for \(span(freshness.left))" }
    guard freshness.state.hasPrefix("stale"), freshness.left < 0 else { return freshness.state }
    return "\(freshness.state) for \(span(-freshness.left))"
  }

  /// A rounded duration, such as `40 s`, `9 min`, `3 h` or `12 days`.
  static func span(_ seconds: Double) -> String {
    let count = seconds.isFinite ? Int(min(max(seconds, 0), 1e15)) : 0
    return switch count {
    case ..<120: "\(count) s"
    case ..<7200: "\(count / 60) min"
    case ..<172_800: "\(count / 3600) h"
    default: "\(count / 86_400) days"
    }
  }
}

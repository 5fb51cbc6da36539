import Feedimg

/// A resolution as text.
struct ResolutionText {
  let text: String

  /// - Parameters:
  ///   - resolution: The decision about an item.
  ///   - number: The number of the item, counted from one; nil if there is only one.
  ///   - isVerbose: Whether to list every fact.
  init(_ resolution: Resolution, number: Int?, isVerbose: Bool) {
    var lines = [Self.headline(number, resolution, Self.image(resolution))]
    if let url = resolution.url { lines.append(Self.line("url", url.description)) }
    if resolution.decision.image == .placeholder {
      lines += Self.placeholder(resolution.item.placeholder)
    } else if resolution.decision.show != resolution.decision.image {
      lines.append(Self.line("meanwhile", Self.meanwhile(resolution)))
    }
    lines.append(Self.because(resolution))
    if resolution.decision.upgrade != .never {
      lines.append(Self.line("again when", resolution.decision.upgrade.rawValue))
    }
    if isVerbose { lines += Self.facts(resolution.facts) }
    text = lines.joined(separator: "\n")
  }

  static func headline(_ number: Int?, _ resolution: Resolution, _ what: String) -> String {
    let name = number.map { "\($0). " } ?? ""
    return name + Output.bold(what) + (resolution.item.id.map { Output.dim("  \($0)") } ?? "")
  }

  static func because(_ resolution: Resolution) -> String {
    line(
      "because",
      "\(resolution.why)  (\(resolution.policy), rule \(resolution.decision.rule), \(resolution.place))"
    )
  }

  static func line(_ label: String, _ value: String) -> String {
    "  " + Output.dim(label.padded(to: 12)) + value
  }

  static func placeholder(_ placeholder: Placeholder) -> [String] {
    [
      placeholder.color.map { line("colour", $0) }, placeholder.blurHash.map { line("blurhash", $0) },
      placeholder.thumbHash.map { line("thumbhash", $0) },
    ].compactMap { $0 }
  }

  private static func image(_ resolution: Resolution) -> String {
    switch resolution.decision.source {
    case .cache: "\(resolution.decision.image.rawValue), from the cache"
    case .network: "\(resolution.decision.image.rawValue), from the network"
    case .none: resolution.decision.image.rawValue
    }
  }

  private static func meanwhile(_ resolution: Resolution) -> String {
    guard resolution.decision.show == .placeholder else { return "the cached thumbnail" }
    let placeholder = resolution.item.placeholder
    let what = placeholder.color ?? placeholder.blurHash.map { "blurhash \($0)" }
    return "the placeholder" + (what.map { " (\($0))" } ?? "")
  }

  static func facts(_ facts: [FactReading]) -> [String] {
    let rows = facts.map { ["    " + $0.name, $0.value, Output.dim($0.source)] }
    return Columns(rows).lines
  }
}

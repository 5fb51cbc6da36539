import Feedimg

/// A resolution as text.
enum ResolutionText {
  /// The decision about an item, with every fact if `isVerbose`.
  ///
  /// The number of the item is counted from one; it is nil if there is only one.
  static func text(_ resolution: Resolution, number: Int?, isVerbose: Bool) -> String {
    var lines = [headline(number, resolution, image(resolution))]
    if let url = resolution.url { lines.append(line("url", url.description)) }
    if resolution.decision.image == .placeholder {
      lines += placeholder(resolution.item.placeholder)
    } else if resolution.decision.show != resolution.decision.image {
      lines.append(line("meanwhile", meanwhile(resolution)))
    }
    lines.append(because(resolution))
    if resolution.decision.upgrade != .never {
      lines.append(line("again when", resolution.decision.upgrade.rawValue))
    }
    if isVerbose { lines += facts(resolution.facts) }
    return lines.joined(separator: "\n")
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

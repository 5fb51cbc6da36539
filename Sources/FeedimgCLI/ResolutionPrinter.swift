import Feedimg

/// Prints resolutions as text, with numbers if there are several.
struct ResolutionPrinter {
  let isVerbose: Bool
  private(set) var count = 0
  /// The first resolution, until it is known whether others follow.
  private(set) var first: Resolution?

  mutating func show(_ resolutions: [Resolution], areLast: Bool) {
    var pending = resolutions[...]
    var lines: [String] = []
    if count == 0, first == nil { first = pending.popFirst() }
    if let only = first, areLast || !pending.isEmpty {
      first = nil
      count = 1
      lines.append(text(only, number: pending.isEmpty ? nil : 1))
    }
    for resolution in pending {
      count += 1
      lines.append(text(resolution, number: count))
    }
    guard !lines.isEmpty else { return }
    Output.line(lines.joined(separator: "\n"))
  }

  private func text(_ resolution: Resolution, number: Int?) -> String {
    ResolutionText.text(resolution, number: number, isVerbose: isVerbose)
  }
}

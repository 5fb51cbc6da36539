import Feedimg
import FeedimgAdmin

/// The results of policy commands as text.
enum PolicyText {
  static func verdict(_ verdict: Policies.Verdict) -> String {
    let remarks = verdict.remarks.map { remark in
      let word = remark.text.prefix { $0 != " " }
      guard word == "error" || word == "warning" else { return remark.text }
      return Output.coloured(word, remark.isError ? .bad : .warning) + remark.text.dropFirst(word.count)
    }
    let summary = verdict.summary.map { Output.coloured($0.prefix(2), .good) + $0.dropFirst(2) }
    return ([verdict.headline.map(Output.bold)] + remarks + [summary]).compactMap { $0 }.joined(
      separator: "\n"
    )
  }

  /// A line of an explanation with a coloured mark.
  static func step(_ line: String) -> String {
    let line = Output.wrapped(line, indent: 12)
    let mark = line.prefix(3)
    switch mark {
    case "  ✓": return Output.coloured(mark, .good) + line.dropFirst(3)
    case "  ✗": return Output.dim(line)
    default: return Output.bold(line)
    }
  }

  static func comparison(_ comparison: Policies.Comparison) -> String {
    let changes = comparison.changes.flatMap { change in
      let headline = "  " + change.headline
      return [change.weight > 0 ? Output.coloured(headline, .bad) : headline]
        + change.boxes.map { Output.wrapped("      " + $0, indent: 10) }
    }
    return ([Output.bold(comparison.headline)] + changes).joined(separator: "\n")
  }

  /// The summary, with the name of the policy if `isNamed`, and one line for each failure.
  static func testRun(_ run: Policies.TestRun, isNamed: Bool) -> String {
    let file = run.file.split(separator: "/").last ?? ""
    let isOther = !file.hasPrefix(run.policy + ".")
    let name = isNamed || isOther ? "\(run.policy): " : ""
    let failures = run.failures.map { line in
      line.hasPrefix("FAIL") ? Output.coloured("FAIL", .bad) + line.dropFirst(4) : line
    }
    return ([name + (run.summary ?? "")] + failures).joined(separator: "\n")
  }

  static func list(_ entries: [Policies.Entry]) -> [String] {
    let heads = Columns(
      entries.map { entry in
        let counts = entry.status.map { "\($0.ruleCount) rules, \($0.stateCount) states" }
        let place = entry.status.map { $0.path ?? $0.layer.rawValue }
        return [(entry.isInForce ? "* " : "  ") + entry.name, counts ?? "refused", place ?? ""]
      }
    ).lines
    return zip(heads, entries).flatMap { head, entry in
      let summary = entry.summary.isEmpty ? [] : [Output.dim("    " + shortened(entry.summary, to: 76))]
      return [entry.isInForce ? Output.bold(head) : head] + summary
        + entry.refusals.map { "    " + Output.coloured("refused ", .bad) + $0 }
    }
  }

  static func status(_ status: Policies.Status) -> String {
    let place = status.path.map { "from \($0)" } ?? "built in"
    let states = "\(status.ruleCount) rules, \(status.stateCount) states"
    var lines = [
      Output.bold("\(status.name), \(place)"), ResolutionText.line("size", states),
      ResolutionText.line("because", reason(status)),
    ]
    for (index, candidate) in status.candidates.enumerated() {
      let status = candidate.status.rawValue.padded(to: 11)
      let place = candidate.path ?? "the built-in policy"
      let shown = candidate.status == .refused ? Output.coloured(status, .bad) : status
      lines.append(ResolutionText.line(index == 0 ? "places" : "", shown + place))
      lines += candidate.reasons.map { String(repeating: " ", count: 25) + $0 }
    }
    return lines.joined(separator: "\n")
  }

  private static func reason(_ status: Policies.Status) -> String {
    if status.isEarlier { return "its file now has errors, so the last valid version stays in force" }
    if status.layer == .given { return "the command names its path" }
    let isAlone = status.candidates.allSatisfy { $0.status != .replaced }
    switch (status.layer, status.refused.isEmpty) {
    case (.builtIn, true): return "no file replaces it"
    case (_, false): return "the file that would replace it has errors"
    default: return isAlone ? "it is the only policy of that name" : "it replaces the following places"
    }
  }

  /// The text, cut between words.
  private static func shortened(_ text: String, to length: Int) -> String {
    guard text.count > length else { return text }
    let cut = text.prefix(length - 2)
    return String(cut[..<(cut.lastIndex(of: " ") ?? cut.endIndex)]) + " …"
  }
}

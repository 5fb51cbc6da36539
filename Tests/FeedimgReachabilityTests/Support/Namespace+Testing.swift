import TestSystem
import Testing

extension Namespace {
  /// Runs each line as an `ip` command, and records an issue if it fails.
  func ip(_ lines: String, sourceLocation: SourceLocation = #_sourceLocation) {
    if !tryCommands(lines) { Issue.record("ip refused some of: \(lines)", sourceLocation: sourceLocation) }
  }
}

import TestSystem
import Testing

extension Namespace {
  /// Does what the lines say, each as `ip` would; what it refuses is an issue.
  func ip(_ lines: String, sourceLocation: SourceLocation = #_sourceLocation) {
    if !tryCommands(lines) { Issue.record("ip refused some of: \(lines)", sourceLocation: sourceLocation) }
  }
}

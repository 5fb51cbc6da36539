/// The choice of a policy.
public enum PolicyChoice: Sendable, Hashable {
  /// The policy named `default`.
  case standard
  /// The name of a policy, or the path of a file: Markdown, or JSON if it ends in `.json`.
  case named(String)
}

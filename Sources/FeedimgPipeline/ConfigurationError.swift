/// An unusable configuration, or a user's file that cannot be read or written.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for each fault, with the place and the expected value.
  public var messages: [String]
  /// Whether the system refused, so that the same input may succeed later.
  public var isSystemFailure: Bool

  package init(_ messages: [String], isSystemFailure: Bool = false) {
    self.messages = messages
    self.isSystemFailure = isSystemFailure
  }

  /// The messages, one line each.
  public var description: String { messages.joined(separator: "\n") }
}

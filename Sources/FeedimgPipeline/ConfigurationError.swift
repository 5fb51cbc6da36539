/// Why what was given cannot be used, or a file of the user's cannot be read or written.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for each fault, with the place and what was expected.
  public var messages: [String]
  /// Whether the system refused, so that the same input may do another time.
  public var isSystemFailure: Bool

  package init(_ messages: [String], isSystemFailure: Bool = false) {
    self.messages = messages
    self.isSystemFailure = isSystemFailure
  }

  /// The messages, a line each.
  public var description: String { messages.joined(separator: "\n") }
}

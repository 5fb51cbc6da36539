/// Why a policy, or a table of cases, cannot be used.
public struct PolicyFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for each fault, with the place and what was expected.
  public var messages: [String]
  /// Whether nothing could be read at all, or what was asked for was not understood.
  ///
  /// Otherwise something was read, and there are slips in it.
  public var isUnreadable: Bool

  package init(_ messages: [String], isUnreadable: Bool = false) {
    self.messages = messages
    self.isUnreadable = isUnreadable
  }

  /// The messages, a line each.
  public var description: String { messages.joined(separator: "\n") }
}

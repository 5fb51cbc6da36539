/// Why the service cannot start.
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line in words.
  public var message: String
  /// Whether what was asked for cannot be, so that it is of no use to try again.
  public var isUsage: Bool

  init(_ message: String, isUsage: Bool = false) {
    self.message = message
    self.isUsage = isUsage
  }

  /// The message.
  public var description: String { message }
}

/// The reason that the service cannot start.
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for the user.
  public var message: String
  /// Whether the request of the user is invalid, so that another attempt would fail too.
  public var isUsage: Bool

  init(_ message: String, isUsage: Bool = false) {
    self.message = message
    self.isUsage = isUsage
  }

  /// An invalid request of the user.
  static func usage(_ message: String) -> ServiceError { ServiceError(message, isUsage: true) }

  /// The message.
  public var description: String { message }
}

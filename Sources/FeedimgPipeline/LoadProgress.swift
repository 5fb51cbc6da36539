public import FeedimgModel

/// The progress of one image's transfer.
public struct LoadProgress: Sendable, Hashable {
  /// The bytes received so far.
  public var received: ByteCount
  /// The length that the server announced; nil if it announced none.
  public var total: ByteCount?

  /// Makes a progress value, such as to test an observer.
  ///
  /// - Parameters:
  ///   - received: The bytes received so far.
  ///   - total: The announced length; nil if unknown.
  public init(received: ByteCount, total: ByteCount?) {
    self.received = received
    self.total = total
  }
}

public import FeedimgModel

/// How far the transfer of one image has come.
public struct LoadProgress: Sendable, Hashable {
  /// So much has arrived.
  public var received: ByteCount
  /// So much was announced; nil where the server did not tell.
  public var total: ByteCount?

  /// Makes a state, such as for the test of an observer.
  public init(received: ByteCount, total: ByteCount?) {
    self.received = received
    self.total = total
  }
}

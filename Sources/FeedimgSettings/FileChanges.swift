/// Tells when a file may have changed, whoever changed it and however.
package enum FileChanges {
  /// Once at first, then after each change; a change that is not taken yet is told once.
  ///
  /// A thread of its own waits while anybody listens. Where the system grants none, the stream ends.
  package static func of(_ path: String) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let waiter = SettingsWaiter(path: FilePath(path)) { _ in continuation.yield() }
    guard let waiter, waiter.start() else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { _ in waiter.stop() }
    return stream
  }
}

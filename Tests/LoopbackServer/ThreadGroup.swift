import Glibc
import Synchronization

/// Threads that are joined together.
final class ThreadGroup: Sendable {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Nil once they have been joined.
  private let handles = Mutex<[pthread_t]?>([])

  /// Starts a thread.
  ///
  /// - Returns: False if none can be started, or all have been joined already.
  func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    handles.withLock { handles in
      guard handles != nil else { return false }
      var handle = pthread_t()
      let work = Unmanaged.passRetained(Work(body))
      errno = pthread_create(
        &handle,
        nil,
        { context in
          if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
          return nil
        },
        work.toOpaque()
      )
      guard errno == 0 else {
        work.release()
        return false
      }
      handles?.append(handle)
      return true
    }
  }

  func joinAll() {
    let joined = handles.withLock { handles in
      defer { handles = nil }
      return handles ?? []
    }
    for handle in joined { pthread_join(handle, nil) }
  }
}

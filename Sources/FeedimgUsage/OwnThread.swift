import Glibc

/// Work that blocks, away from the threads that others wait for.
enum OwnThread {
  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Runs the body once on a new thread; at once on this one where none can be had.
  ///
  /// - Parameters:
  ///   - name: As `ps -L` shows it, of at most 15 bytes.
  ///   - body: May block.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(name, body))
    let failure = pthread_create(
      &thread,
      &attributes,
      { context in
        guard let context else { return nil }
        let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        OwnThread.takeName(work.name)
        work.body()
        return nil
      },
      work.toOpaque()
    )
    guard failure != 0 else { return }
    work.release()
    body()
  }

  /// Gives the calling thread a name; Glibc's own function for that is hidden from Swift.
  fileprivate static func takeName(_ name: String) {
    guard let file = try? OpenLedger("/proc/thread-self/comm", O_WRONLY) else { return }
    _ = try? file.write(Array(name.utf8))
  }
}

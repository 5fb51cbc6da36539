import CTestKernel
import Glibc

/// A network namespace, for the lifetime of one thread.
///
/// Code that runs in it, and threads and processes started there, see only its interfaces. At first it has a
/// loopback device that is down.
package final class Namespace: @unchecked Sendable {
  // Proof: `job` is written while `idle` is held and read between `start` and `done`, which alternate.
  private var job: (() -> Void)?
  private let idle: UnsafeMutablePointer<sem_t>
  private let start: UnsafeMutablePointer<sem_t>
  private let done: UnsafeMutablePointer<sem_t>
  private var thread = pthread_t()
  package private(set) var threadIdentifier: Int32 = 0

  /// Whether this system lets the tests create network namespaces.
  package static let isPermitted: Bool = {
    guard let namespace = try? Namespace() else { return false }
    return namespace.tryCommands("link add probe type veth peer name peer")
  }()

  package struct Refused: Error {
    package var errorNumber: Int32
  }

  package init() throws {
    (idle, start, done) = (Self.semaphore(1), Self.semaphore(0), Self.semaphore(0))
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = pthread_create(&thread, nil, { Namespace.loop($0) }, context)
    let failure = run { [self] in
      threadIdentifier = test_thread()
      return test_leave_network()
    }
    guard failure == 0 else { throw Refused(errorNumber: failure) }
  }

  deinit {
    job = nil
    sem_post(start)
    pthread_join(thread, nil)
    for semaphore in [idle, start, done] {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }
  }

  /// Runs a job in the network, and waits for it.
  @discardableResult
  package func run<Result>(_ body: @escaping () -> Result) -> Result {
    sem_wait(idle)
    defer { sem_post(idle) }
    var result: Result?
    job = { result = body() }
    sem_post(start)
    sem_wait(done)
    guard let result else { preconditionFailure("the job has run") }
    return result
  }

  /// Runs each line as an `ip` command, all in one process.
  ///
  /// - Returns: Whether all succeeded.
  package func tryCommands(_ lines: String) -> Bool {
    run { Self.execute(["ip", "-batch", "-"], input: lines + "\n") }
  }

  /// Sets a kernel parameter for this network, such as `net/ipv6/conf/all/disable_ipv6`.
  package func set(_ name: String, _ value: String) {
    run {
      let file = open("/proc/sys/\(name)", O_WRONLY)
      _ = value.withCString { write(file, $0, strlen($0)) }
      close(file)
    }
  }

  private static func semaphore(_ value: UInt32) -> UnsafeMutablePointer<sem_t> {
    let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(semaphore, 0, value)
    return semaphore
  }

  private static func loop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let unmanaged = Unmanaged<Namespace>.fromOpaque(context)
    // The namespace waits for this thread before it is removed.
    let (start, done) = unmanaged._withUnsafeGuaranteedRef { ($0.start, $0.done) }
    while true {
      while sem_wait(start) != 0 {}
      guard let job = unmanaged._withUnsafeGuaranteedRef({ $0.takeJob() }) else { return nil }
      job()
      sem_post(done)
    }
  }

  private func takeJob() -> (() -> Void)? {
    defer { job = nil }
    return job
  }

  private static func execute(_ arguments: [String], input: String) -> Bool {
    var ends: [Int32] = [0, 0]
    guard test_pipe(&ends) == 0 else { return false }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let failure = posix_spawnp(&process, arguments[0], &actions, nil, &words, environ)
    close(ends[0])
    _ = input.withCString { write(ends[1], $0, strlen($0)) }
    close(ends[1])
    guard failure == 0 else { return false }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return status == 0
  }
}

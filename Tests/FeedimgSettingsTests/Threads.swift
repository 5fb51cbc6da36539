import Glibc

/// Runs a body on several threads at once, apart from the pool that tests run on, and returns when all are done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) -> Void) {
  final class Start: Sendable {
    let number: Int
    let body: @Sendable (Int) -> Void

    init(number: Int, body: @escaping @Sendable (Int) -> Void) {
      self.number = number
      self.body = body
    }
  }
  let threads = (0..<count).map { number in
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(number: number, body: body))
    let result = pthread_create(
      &thread,
      nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.body(start.number)
        return nil
      },
      start.toOpaque()
    )
    precondition(result == 0, "no thread")
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}

/// Runs a body as nobody, as far as files are concerned, where the test runs as the superuser.
///
/// Must not suspend: the kernel keeps the right to files for each thread (setfsuid(2)).
func withoutPrivileges<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
  typealias SetFileUser = @convention(c) (uid_t) -> Int32
  guard geteuid() == 0, let symbol = dlsym(nil, "setfsuid") else { return try body() }
  let setFileUser = unsafeBitCast(symbol, to: SetFileUser.self)
  _ = setFileUser(65_534)
  defer { _ = setFileUser(0) }
  return try body()
}

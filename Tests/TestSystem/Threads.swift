import FeedimgSystem
import Glibc

/// Runs a body on several threads at once, outside the pool of the tests, and returns when all have ended.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) -> Void) {
  let running = ConditionLock(count)
  for number in 0..<count {
    let isStarted = SystemThread.start("test-\(number)") {
      body(number)
      running.withLock { $0 -= 1 }
      running.signal()
    }
    precondition(isStarted, "no thread")
  }
  running.wait { $0 == 0 ? .done(()) : .wait }
}

/// Runs a body without the superuser's access to files.
///
/// Must not suspend: the kernel keeps file access rights per thread (setfsuid(2)).
package func withoutPrivileges<Result>(_ body: () throws -> Result) rethrows -> Result {
  typealias SetFileUser = @convention(c) (uid_t) -> Int32
  guard geteuid() == 0, let symbol = dlsym(nil, "setfsuid") else { return try body() }
  let setFileUser = unsafeBitCast(symbol, to: SetFileUser.self)
  _ = setFileUser(65_534)
  defer { _ = setFileUser(0) }
  return try body()
}

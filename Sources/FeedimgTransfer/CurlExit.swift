import FeedimgSystem
import Glibc
import Synchronization

/// Closes all connections in exit(3), and waits for that.
///
/// A program that has used OpenSSL before libcurl opens lets it clean up in exit(3); `ccurl_open` prevents that
/// in other programs. A thread that still closed connections then would crash the program. A handler of
/// exit(3) therefore closes them first. Handlers run in reverse order, so it is registered after OpenSSL's.
enum CurlExit {
  private struct Running {
    weak var transfers: CurlTransfers?
    /// The process that opened libcurl; a fork has no threads of its parent.
    let process = getpid()
  }

  private static let running = Mutex<[Running]>([])

  /// The longest wait in exit(3), in nanoseconds.
  private static let timeout = 2_000_000_000

  static func register(_ transfers: CurlTransfers) {
    // The program may exit before libcurl is open.
    _ = atStart
    running.withLock { running in
      running.removeAll { $0.transfers == nil || $0.transfers === transfers }
      running.append(Running(transfers: transfers))
    }
  }

  /// Registers the handler again after libcurl's libraries have registered theirs, so that it runs before
  /// them.
  static func registerAfterLibraries() { _ = afterLibraries }

  private static let atStart: Void = { atexit { CurlExit.closeAll() } }()
  private static let afterLibraries: Void = { atexit { CurlExit.closeAll() } }()

  private static func closeAll() {
    let open = running.withLock { running in
      defer { running = [] }
      return running.filter { $0.process == getpid() }.compactMap(\.transfers)
    }
    let left = ConditionLock(open.count)
    for one in open {
      one.stopForExit {
        left.withLock { $0 -= 1 }
        left.signal()
      }
    }
    let end = ConditionLock<Int>.now + timeout
    left.wait { left in left == 0 || ConditionLock<Int>.now >= end ? .done(()) : .waitUntil(end) }
  }
}

import CFaults
import FeedimgHTTPCache
import Glibc

/// A copy of this process that does one task with the cache.
///
/// It may be stopped and killed on the way.
struct Victim {
  /// The state of the process.
  enum State: Equatable {
    case stopped
    case killed
    case done
  }

  private let identifier: pid_t

  /// Shared with the victims: the number of calls of the last one that completed, and their mark.
  nonisolated(unsafe) private static let counter = mmap(
    nil,
    16,
    PROT_READ | PROT_WRITE,
    MAP_SHARED | MAP_ANONYMOUS,
    -1,
    0
  )

  /// The number of calls of the last one that completed.
  static var calls: Int { counter?.load(as: Int.self) ?? 0 }

  /// A number that a victim stores and that outlives it.
  static var mark: Int {
    get { counter?.load(fromByteOffset: 8, as: Int.self) ?? 0 }
    set { counter?.storeBytes(of: newValue, toByteOffset: 8, as: Int.self) }
  }

  /// Starts it, with the moments of the first.
  ///
  /// Only calls on files below the folder count.
  init(in folder: String, _ moments: Moments = Moments(), _ work: () -> Void) {
    _ = Self.calls
    identifier = feedimg_fork()
    guard identifier == 0 else { return }
    if moments.lock > 0 {
      feedimg_interruptions_begin(folder, moments.lock, "flock", moments.kill)
    } else {
      feedimg_interruptions_begin(folder, moments.stop, "", moments.kill)
    }
    work()
    Self.counter?.storeBytes(of: feedimg_faults_end(), as: Int.self)
    _exit(0)
  }

  /// Waits until it has stopped or ended.
  func wait() -> State {
    var status: Int32 = 0
    while waitpid(identifier, &status, WUNTRACED) < 0, errno == EINTR {}
    if status & 0xFF == 0x7F { return .stopped }
    return status & 0x7F == 0 ? .done : .killed
  }

  /// Lets it continue to its end.
  func resume() -> State {
    Glibc.kill(identifier, SIGCONT)
    return wait()
  }

  func kill() {
    Glibc.kill(identifier, SIGKILL)
    _ = wait()
  }
}

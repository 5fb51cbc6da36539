import Glibc

/// A process that a test has started, with a socket for its input and output.
final class Child {
  private let identifier: pid_t
  private let socket: Int32
  private var pending: [UInt8] = []
  private var status: Int32?

  /// The program that uses a cache from outside.
  ///
  /// It is built beside the tests.
  static let worker: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let length = max(0, readlink("/proc/self/exe", &path, path.count - 1))
    let executable = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The tests may run in a program of the toolchain, which receives the bundle as an argument.
    let candidates = [executable] + CommandLine.arguments
    for candidate in candidates {
      guard let slash = candidate.lastIndex(of: "/") else { continue }
      let worker = candidate[...slash] + "CacheWorker"
      if access(String(worker), X_OK) == 0 { return String(worker) }
    }
    return "CacheWorker"
  }()

  init(_ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    // Close on exec from the start, so that children of other tests do not keep it open.
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw SystemFailure(call: "socketpair", reason: errno)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var child: pid_t = 0
    let result = posix_spawnp(&child, arguments[0], &actions, nil, &pointers, environ)
    close(ends[1])
    guard result == 0 else { throw SystemFailure(call: "posix_spawnp", reason: result) }
    identifier = child
    socket = ends[0]
  }

  deinit {
    kill()
    wait()
    close(socket)
  }

  /// The next line of output.
  ///
  /// Nil at the end.
  func line() -> String? {
    var block = [UInt8](repeating: 0, count: 4096)
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        defer { pending.removeFirst(end + 1) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      let count = read(socket, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      pending += block[..<count]
    }
  }

  /// The remaining lines of the output.
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// Tells the child to stop by closing its input.
  func stop() { shutdown(socket, Int32(SHUT_WR)) }

  func kill() {
    if status == nil { Glibc.kill(identifier, SIGKILL) }
  }

  /// Waits for the end.
  ///
  /// Returns the exit status, or minus the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    stop()
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(identifier, &raw, 0) < 0, errno == EINTR {}
    let ended = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -(raw & 0x7F)
    status = ended
    return ended
  }

  /// Runs a shell script in a private mount namespace.
  ///
  /// Nil if the kernel refuses one.
  static func isolated(_ script: String, _ arguments: [String]) throws -> Child? {
    let trial = try Child(["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"])
    guard trial.wait() == 0 else { return nil }
    return try Child(["unshare", "--mount", "sh", "-e", "-c", script, "sh"] + arguments)
  }
}

import Glibc

/// One run of the real program on a terminal, which `script` of util-linux creates.
final class TerminalRun {
  private let process: pid_t
  private let output: Int32
  private var seen = ""

  private static let maker = "/usr/bin/script"
  static let isAvailable = access(maker, X_OK) == 0

  /// Starts it in the folder, with arguments as a shell reads them.
  init(_ arguments: String, in folder: TestFolder) throws {
    var ends: [Int32] = [-1, -1]
    // A socket, because one call here makes it close on exec.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw RunError(message: "no pipe: \(errno)") }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    let line = "cd \(folder.root) && exec \(CommandRun.program) \(arguments)"
    let variables: [String] = [
      "HOME=\(folder.path(""))", "XDG_CACHE_HOME=\(folder.path("cache"))",
      "XDG_CONFIG_HOME=\(folder.path("config"))", "PATH=/usr/bin:/bin", "TERM=xterm", "SHELL=/bin/sh",
    ]
    let command: [String] = [Self.maker, "-qefc", line, "/dev/null"]
    var words = command.map { strdup($0) } + [nil]
    var names = variables.map { strdup($0) } + [nil]
    defer { for word in words + names { free(word) } }
    var process = pid_t()
    let code = posix_spawn(&process, Self.maker, &actions, nil, &words, &names)
    guard code == 0 else { throw RunError(message: "cannot run \(Self.maker): \(code)") }
    (self.process, output) = (process, ends[0])
  }

  deinit {
    // Every process that still runs loses its terminal with this.
    kill(process, SIGTERM)
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
    close(output)
  }

  /// The output of the terminal up to a match.
  ///
  /// Nil if the run ends without one.
  func text(upTo awaited: Regex<some Any>) throws -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      if let range = seen.firstRange(of: awaited) {
        defer { seen.removeSubrange(..<range.upperBound) }
        return String(seen[range])
      }
      let count = read(output, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      seen += String(decoding: bytes[..<count], as: UTF8.self)
    }
  }
}

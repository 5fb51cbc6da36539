import CTestKernel
import Glibc

/// A program that a test runs as a child process.
final class ChildProcess: Sendable {
  private let id: pid_t
  private let output: Int32

  /// Starts it with a pipe for its standard output.
  ///
  /// Discards its errors.
  ///
  /// - Parameter command: The path of the program and its arguments.
  /// - Throws: ``LoopbackError`` if it cannot be started.
  init(_ command: [String]) throws(LoopbackError) {
    var ends: [Int32] = [-1, -1]
    guard test_pipe(&ends) == 0 else { throw LoopbackError("pipe") }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var id: pid_t = 0
    errno = posix_spawn(&id, command[0], &actions, nil, &arguments, nil)
    guard errno == 0 else {
      close(ends[0])
      throw LoopbackError("posix_spawn")
    }
    self.id = id
    output = ends[0]
  }

  deinit { close(output) }

  /// Reads until a line matches.
  ///
  /// Nil if there is none.
  func line(where isWanted: (String) -> Bool) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      let text = String(decoding: line, as: UTF8.self)
      if isWanted(text) { return text }
      line = []
    }
    return nil
  }

  func wait() {
    while waitpid(id, nil, 0) < 0 && errno == EINTR {}
  }

  /// Kills it.
  func kill() {
    _ = Glibc.kill(id, SIGKILL)
    wait()
  }
}

import CTestKernel
import Glibc

/// A process that communicates by lines, and ends when it is released.
package final class Child {
  private var process = pid_t()
  private var input: Int32
  private let output: Int32

  /// Starts a program.
  ///
  /// - Returns: Nil if it cannot be started.
  package init?(_ arguments: [String], environment: [String] = []) {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard test_pipe(&toChild) == 0, test_pipe(&fromChild) == 0 else { return nil }
    (input, output) = (toChild[1], fromChild[0])
    defer {
      close(toChild[0])
      close(fromChild[1])
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var names: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for word in words + names { free(word) } }
    guard posix_spawn(&process, arguments[0], &actions, nil, &words, &names) == 0 else {
      close(input)
      close(output)
      return nil
    }
  }

  deinit {
    endInput()
    close(output)
    // Not SIGTERM: threads of the test run block it, and a child inherits that.
    kill(process, SIGKILL)
    while waitpid(process, nil, 0) < 0 && errno == EINTR {}
  }

  package func write(_ text: String) {
    _ = text.withCString { Glibc.write(input, $0, strlen($0)) }
  }

  /// Closes its input.
  package func endInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// The next line of its output.
  ///
  /// Nil at the end.
  package func readLine() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }
}

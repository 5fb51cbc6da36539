import FeedimgSystem
import Glibc

@testable import FeedimgSettings

/// A process of `sh`, with pipes to its standard input and output.
final class ShellCommand: Sendable {
  private let process: pid_t
  private let input: Int32
  private let output: Int32

  init(_ script: String) throws {
    var inputEnds: [Int32] = [-1, -1]
    var outputEnds: [Int32] = [-1, -1]
    // Sockets, because one call here can create them with close-on-exec.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &inputEnds) == 0, socketpair(AF_UNIX, kind, 0, &outputEnds) == 0 else {
      throw FileError("make", "a pipe")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, inputEnds[0], 0)
    posix_spawn_file_actions_adddup2(&actions, outputEnds[0], 1)
    var process = pid_t()
    var arguments = ["sh", "-c", script].map { (word: String) in strdup(word) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let result = posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ)
    close(inputEnds[0])
    close(outputEnds[0])
    guard result == 0 else { throw FileError("run", "/bin/sh", reason: result) }
    self.process = process
    input = inputEnds[1]
    output = outputEnds[1]
  }

  deinit { close(output) }

  /// Waits for a line of output.
  func readLine() throws -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1, byte != 0x0A { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }

  func closeInput() { close(input) }

  /// Waits for the end; the input must be closed.
  func wait() {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }
}

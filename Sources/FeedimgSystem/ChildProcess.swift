import CLinux
import Glibc

/// A program that runs once, from one file to another.
package enum ChildProcess {
  /// Runs a program and waits for its end.
  ///
  /// - Parameters:
  ///   - words: The path of the program and its arguments.
  ///   - variables: The environment, such as `HOME=/root`.
  ///   - input: The standard input of the program.
  ///   - output: Its standard output and standard error; it has no other open files.
  /// - Returns: The status, or the error number of posix_spawn(3) or waitpid(2).
  package static func run(
    _ words: [String],
    variables: [String],
    input: Int32,
    output: Int32
  ) -> Result<Int32, ChildProcessError> {
    var arguments = words.map { strdup($0) } + [nil]
    var environment = variables.map { strdup($0) } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var process = pid_t()
    let code = clinux_spawn(&process, words.first ?? "", &arguments, &environment, input, output)
    guard code == 0 else { return .failure(ChildProcessError(code: code)) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return .failure(ChildProcessError(code: errno)) }
    }
    return .success(status)
  }
}

/// Why a program could not be started, or its end is unknown.
package struct ChildProcessError: Error {
  /// The error number.
  package let code: Int32
}

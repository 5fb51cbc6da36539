import CLinux
import Glibc

/// The command line of this process; unlike `CommandLine`, it works without `/proc`.
package enum ProcessArguments {
  /// All arguments, with the name of the program first.
  package static func all() -> [String] {
    var arguments: [String] = []
    var entry = clinux_arguments()
    while let pointer = entry, let text = pointer.pointee {
      arguments.append(String(cString: text))
      entry = pointer + 1
    }
    return arguments
  }

  /// The folder of the running program, with a final slash; empty if it is unknown.
  package static func programFolder() -> String {
    guard let path = realpath("/proc/self/exe", nil) ?? clinux_program().flatMap({ realpath($0, nil) }) else {
      return ""
    }
    defer { free(path) }
    let program = String(cString: path)
    return program.lastIndex(of: "/").map { String(program[...$0]) } ?? ""
  }
}

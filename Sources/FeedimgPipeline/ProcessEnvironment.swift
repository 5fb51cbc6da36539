import FeedimgSystem
import Glibc

/// The variables and arguments of this process.
package enum ProcessEnvironment {
  /// The arguments without the name of the program, also if `/proc` is hidden.
  package static func arguments() -> [String] { Array(ProcessArguments.all().dropFirst()) }

  /// Whether this process can run tasks: libdispatch counts its threads in `/proc`, and dies with SIGILL without it
  /// (`_dispatch_workq_monitor_pools`).
  package static func canRunTasks() -> Bool { access("/proc/self/stat", R_OK) == 0 }

  /// The folder of the program that runs, with a final slash; empty if it is unknown.
  package static func programFolder() -> String { ProcessArguments.programFolder() }

  /// Read once, when a front end asks.
  static func variables() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let pair = String(cString: text)
      if let equals = pair.firstIndex(of: "=") {
        variables[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
      }
      entry += 1
    }
    return variables
  }

  /// The home of the account, for processes that are told none, as some services are.
  static func accountHome() -> String? {
    guard let account = getpwuid(getuid()), let home = account.pointee.pw_dir else { return nil }
    return String(cString: home)
  }
}

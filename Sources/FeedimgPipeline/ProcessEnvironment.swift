import FeedimgSystem
import Glibc

/// The variables and arguments of this process.
package enum ProcessEnvironment {
  /// The arguments without the program name, even if `/proc` is hidden.
  package static func arguments() -> [String] { Array(ProcessArguments.all().dropFirst()) }

  /// Returns whether this process can run tasks.
  ///
  /// libdispatch counts its threads in `/proc`. Without it, libdispatch crashes with SIGILL
  /// (`_dispatch_workq_monitor_pools`).
  package static func canRunTasks() -> Bool { access("/proc/self/stat", R_OK) == 0 }

  /// The first resource of all tasks that the system refuses, with the reason; nil if it grants all.
  package static func refusedCall() -> String? { RequiredResources.refusal() }

  /// Makes the process reuse its memory; called once, at its start.
  ///
  /// Otherwise malloc returns the memory of each image or batch of items to the kernel, and requests it again.
  package static func reuseMemory() { SystemMemory.reuse(upTo: 4 << 20) }

  /// Returns the folder of the running program, with a final slash; empty if it is unknown.
  package static func programFolder() -> String { ProcessArguments.programFolder() }

  /// Returns the variables of the process; a front end reads them once.
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

  /// Returns the home folder of the account, for a process without `HOME`, such as some services.
  static func accountHome() -> String? {
    guard let account = getpwuid(getuid()), let home = account.pointee.pw_dir else { return nil }
    return String(cString: home)
  }
}

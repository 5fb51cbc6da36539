import Glibc

/// Why a server could not be started.
package struct LoopbackError: Error, CustomStringConvertible {
  package var description: String

  /// - Parameter call: The system call that just failed.
  init(_ call: String) {
    description = "\(call): \(strerror(errno).map { String(cString: $0) } ?? "error \(errno)")"
  }
}

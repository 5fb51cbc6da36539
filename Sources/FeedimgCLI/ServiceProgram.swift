import Feedimg
import Glibc

/// `feedimg-serve`, installed beside this program.
///
/// It is a separate program, so that other commands do not load the libraries of the service.
enum ServiceProgram {
  private static let name = "feedimg-serve"

  /// Replaces this program with the service; the process ID stays, which service managers need.
  ///
  /// - Throws: ``CommandFailure`` if the service cannot be started.
  static func become(with arguments: [String]) throws(CommandFailure) -> Never {
    let path = ProcessEnvironment.programFolder() + name
    var pointers = ([path] + arguments).map { strdup($0) } + [nil]
    execv(path, &pointers)
    let code = errno
    for pointer in pointers { free(pointer) }
    throw CommandFailure(.failure, "`\(path)`: cannot run: \(SystemError.text(code))")
  }
}

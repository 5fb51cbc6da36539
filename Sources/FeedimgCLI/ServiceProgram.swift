import Feedimg
import Glibc

/// `feedimg-serve`, installed beside this program.
///
/// A program of its own, so that what the service is linked with is not loaded at the start of every command.
enum ServiceProgram {
  private static let name = "feedimg-serve"

  /// Becomes the service, with the same process number, so that a service manager knows it still.
  ///
  /// - Throws: ``CommandFailure`` where it is not there.
  static func become(with arguments: [String]) throws(CommandFailure) -> Never {
    let path = ProcessEnvironment.programFolder() + name
    var pointers = ([path] + arguments).map { strdup($0) } + [nil]
    execv(path, &pointers)
    let code = errno
    for pointer in pointers { free(pointer) }
    throw CommandFailure(.failure, "`\(path)`: cannot be run: \(SystemError.text(code))")
  }
}

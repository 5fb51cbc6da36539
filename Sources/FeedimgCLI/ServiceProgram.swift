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
    let path = folder() + name
    var pointers = ([path] + arguments).map { strdup($0) } + [nil]
    execv(path, &pointers)
    let code = errno
    for pointer in pointers { free(pointer) }
    throw CommandFailure(.failure, "`\(path)`: cannot be run: \(SystemError.text(code))")
  }

  /// The folder of this program, with a final slash.
  private static func folder() -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    let program = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return program.lastIndex(of: "/").map { String(program[...$0]) } ?? ""
  }
}

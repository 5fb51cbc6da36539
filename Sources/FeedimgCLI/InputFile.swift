import Glibc

/// A file named on the command line; `-` is standard input.
struct InputFile {
  let path: String

  /// Longer input is refused; in bytes.
  private static let greatestLength = 256 << 20

  /// As messages name it.
  var name: String { path == "-" ? "standard input" : path }

  /// - Throws: ``CommandFailure`` with status 2 and the system's reason.
  func read() throws(CommandFailure) -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { if path != "-" { close(descriptor) } }
    var content: [UInt8] = []
    while true {
      var (count, error): (Int, Int32) = (0, 0)
      let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        error = errno
        initialized = max(0, count)
      }
      if count < 0, error == EINTR { continue }
      guard count >= 0 else { throw failure(error) }
      guard count > 0 else { return content }
      content += chunk
      guard content.count <= Self.greatestLength else {
        throw CommandFailure(.usage, "\(name): is longer than \(Self.greatestLength >> 20) MiB")
      }
    }
  }

  private func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.usage, "\(name): cannot be read: \(SystemError.text(code))")
  }
}

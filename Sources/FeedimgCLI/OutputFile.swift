import Glibc

/// A file to be written whole or not at all; `-` is standard output.
struct OutputFile {
  let path: String

  /// Fails before any work is done where the file cannot be written anyway.
  ///
  /// - Throws: ``CommandFailure`` with status 2.
  func check() throws(CommandFailure) {
    guard path != "-" else { return }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw CommandFailure(.usage, "--output \(path): expected a file, but this is a folder")
    }
    guard access(folder, F_OK) == 0 else {
      throw CommandFailure(.usage, "--output \(path): the folder `\(folder)` does not exist")
    }
  }

  /// - Throws: ``CommandFailure`` with status 1; an earlier file of that name is then untouched.
  func write(_ bytes: [UInt8]) throws(CommandFailure) {
    guard path != "-" else { return Output.standardOutput(bytes) }
    var status = stat()
    // A device or a pipe cannot be replaced, only written to.
    let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    let target = isSpecial ? path : "\(path).\(getpid()).part"
    let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(errno) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        let code = errno
        close(descriptor)
        if !isSpecial { unlink(target) }
        throw failure(code)
      }
      rest = rest.dropFirst(written)
    }
    close(descriptor)
    guard isSpecial || rename(target, path) == 0 else {
      let code = errno
      unlink(target)
      throw failure(code)
    }
  }

  private var folder: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.failure, "--output \(path): cannot be written: \(SystemError.text(code))")
  }
}
